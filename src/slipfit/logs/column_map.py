"""What the columns of somebody's CSV log mean: the file `slipfit/columns/1`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, StrictInt, StrictStr, ValidationInfo, model_validator

from slipfit.errors import ParameterError
from slipfit.library.files import FileModel, NamedFile
from slipfit.library.parameter import as_float
from slipfit.logs import channels as names
from slipfit.logs.units import factor


def _number(given: Any, info: ValidationInfo) -> float:
    return as_float(given, info.field_name or "value")


Number = Annotated[float, BeforeValidator(_number)]
Place = StrictStr | Annotated[StrictInt, Field(ge=0, le=100_000)]
Unit = Annotated[StrictStr, Field(min_length=1, max_length=40)]
Rows = Annotated[StrictInt, Field(ge=0, le=1000)]


class Column(FileModel):
    """One column by name or, counted from 0, by place. A cell means cell · scale in `unit`."""

    column: Place
    unit: Unit | None = None  # the unit of our name, unless told
    scale: Number = 1.0
    increments: bool = False  # cells tell the change since the last row: they are added up


class Columns(FileModel):
    """The same quantity of all wheels, front-left first."""

    columns: Annotated[list[Place], Field(min_length=2, max_length=16)]
    unit: Unit | None = None
    scale: Number = 1.0
    increments: bool = False


Entry = Place | Column


class Time(FileModel):
    """Stamps from a column, or from the number of the row and a rate."""

    column: Place | None = None
    unit: Literal["s", "ms", "us", "ns"] = "s"
    rate_hz: Annotated[float, Field(gt=0.0, le=1e6), BeforeValidator(_number)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.column is None) == (self.rate_hz is None):
            raise ValueError("expected either a column or a rate_hz")
        return self


class Vector(FileModel):
    """Readings along x, y, z of the sensor; some may be missing."""

    x: Entry | None = None
    y: Entry | None = None
    z: Entry | None = None
    unit: Unit | None = None


class PoseColumns(FileModel):
    """Position and heading, the latter as an angle or a quaternion (x, y, z, w); odometry has body velocities too."""

    x: Entry | None = None
    y: Entry | None = None
    yaw: Entry | None = None
    quaternion: Annotated[list[Place], Field(min_length=4, max_length=4)] | None = None
    vx: Entry | None = None
    vy: Entry | None = None
    yaw_rate: Entry | None = None
    unit: Unit = "m"
    angle_unit: Unit = "rad"
    speed_unit: Unit = "m/s"
    rate_unit: Unit = "rad/s"

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.yaw is not None and self.quaternion is not None:
            raise ValueError("expected yaw or quaternion, not both")
        if all(entry is None for entry in (self.x, self.y, self.yaw, self.quaternion, self.vx, self.vy, self.yaw_rate)):
            raise ValueError("expected at least one of x, y, yaw")
        return self


class GnssColumns(FileModel):
    """Fixes of a satellite receiver."""

    latitude: Entry
    longitude: Entry
    altitude: Entry | None = None
    angle_unit: Unit = "deg"
    unit: Unit = "m"


class SegmentColumn(FileModel):
    """A number or text that changes where a new piece of the recording begins."""

    column: Place


class Source(NamedTuple):
    """Where one of our columns comes from: cell · factor, added up or not."""

    channel: str
    name: str
    column: str | int
    factor: float
    increments: bool = False


class ColumnMap(NamedFile):
    """A whole file."""

    schema_: Literal["slipfit/columns/1"] = Field("slipfit/columns/1", alias="schema")
    about: str = ""
    separator: Annotated[StrictStr, Field(pattern=r'^[^\s"\w.+\-]$|^\t$|^ $')] = ","
    header_rows: Rows = 1
    name_row: Annotated[StrictInt, Field(ge=1, le=1000)] | None = None  # the last row of the header, unless told
    skip_rows: Rows = 0  # below the header
    wheel_radius_m: Annotated[float, Field(gt=0.0, le=10.0), BeforeValidator(_number)] | None = None
    time: Time
    left_wheel_speed: Entry | None = None
    right_wheel_speed: Entry | None = None
    left_wheel_angle: Entry | None = None
    right_wheel_angle: Entry | None = None
    left_wheel_ticks: Entry | None = None
    right_wheel_ticks: Entry | None = None
    wheel_speeds: Columns | None = None
    wheel_angles: Columns | None = None
    wheel_ticks: Columns | None = None
    left_wheel_command: Entry | None = None
    right_wheel_command: Entry | None = None
    wheel_commands: Columns | None = None
    speed_command: Entry | None = None
    sideways_command: Entry | None = None
    yaw_rate_command: Entry | None = None
    acceleration: Vector | None = None
    gyro: Vector | None = None
    yaw_rate: Entry | None = None
    pose: PoseColumns | None = None
    odometry: PoseColumns | None = None
    gnss: GnssColumns | None = None
    left_motor_current: Entry | None = None
    right_motor_current: Entry | None = None
    left_motor_voltage: Entry | None = None
    right_motor_voltage: Entry | None = None
    motor_currents: Columns | None = None
    motor_voltages: Columns | None = None
    drawbar_force: Entry | None = None
    segments: SegmentColumn | None = None
    other: Annotated[dict[StrictStr, dict[StrictStr, Entry]], Field(max_length=50)] | None = None  # channel: our column: theirs

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.name_row is not None and self.name_row > self.header_rows:
            raise ValueError(f"name_row is {self.name_row}, header_rows {self.header_rows}; names stand in the header")
        if self.yaw_rate is not None and self.gyro is not None and self.gyro.z is not None:
            raise ValueError("yaw_rate and gyro.z mean the same; expected one of them")
        try:
            sources = list(self.sources())
        except ParameterError as error:
            raise ValueError(str(error)) from None
        if not sources and self.segments is None:
            raise ValueError("no column but the time is named; expected at least one, such as left_wheel_speed")
        twice = {key for key in ((s.channel, s.name) for s in sources) if [(s.channel, s.name) for s in sources].count(key) > 1}
        if twice:
            raise ValueError(f"{'.'.join(sorted(twice)[0])} would come from two columns; expected one")
        return self

    @classmethod
    def find(cls, given: "ColumnMap | Path | str") -> "ColumnMap":
        """The map itself, or from its file."""
        return given if isinstance(given, ColumnMap) else cls.load(given)

    def sources(self) -> Iterator[Source]:
        """Every column of ours that the map gives, but stamps, segments, quaternions and what is computed from fixes."""
        yield from self._wheels()
        yield from self._commands()
        yield from self._inertial()
        for channel, pose in ((names.POSE, self.pose), (names.ODOMETRY, self.odometry)):
            yield from self._pose(channel, pose) if pose else ()
        if self.gnss:
            for name in ("latitude", "longitude"):
                yield self._source(names.GNSS, f"{name}_rad", getattr(self.gnss, name), self.gnss.angle_unit)
            yield from self._maybe(names.GNSS, "altitude_m", self.gnss.altitude, self.gnss.unit)
        yield from self._motors()
        yield from self._maybe(names.DRAWBAR, names.DRAWBAR_COLUMNS[0], self.drawbar_force)
        for channel, columns in (self.other or {}).items():
            for name, entry in columns.items():
                yield self._source(channel, name, entry)

    def _wheels(self) -> Iterator[Source]:
        for quantity, group in (("angle", self.wheel_angles), ("speed", self.wheel_speeds), ("ticks", self.wheel_ticks)):
            for side in names.SIDES:
                entry = getattr(self, f"{side}_wheel_{quantity}")
                yield from self._maybe(names.ENCODERS, names.side_column(quantity, side), entry)
            if group:
                yield from self._group(names.ENCODERS, names.wheel_columns(quantity, len(group.columns)), group)

    def _commands(self) -> Iterator[Source]:
        yield from self._maybe(names.COMMANDS, "v_mps", self.speed_command)
        yield from self._maybe(names.COMMANDS, "vy_mps", self.sideways_command)
        yield from self._maybe(names.COMMANDS, "yaw_rate_radps", self.yaw_rate_command)
        for side in names.SIDES:
            entry = getattr(self, f"{side}_wheel_command")
            yield from self._maybe(names.COMMANDS, names.side_column("speed", side), entry)
        if self.wheel_commands:
            yield from self._group(
                names.COMMANDS, names.wheel_columns("speed", len(self.wheel_commands.columns)), self.wheel_commands
            )

    def _inertial(self) -> Iterator[Source]:
        for kind, unit, vector in (("accel", "mps2", self.acceleration), ("gyro", "radps", self.gyro)):
            if vector:
                for axis in "xyz":
                    yield from self._maybe(names.IMU, f"{kind}_{axis}_{unit}", getattr(vector, axis), vector.unit)
        yield from self._maybe(names.IMU, "gyro_z_radps", self.yaw_rate)

    def _pose(self, channel: str, pose: PoseColumns) -> Iterator[Source]:
        kinds = (("x", "m", pose.unit), ("y", "m", pose.unit), ("yaw", "rad", pose.angle_unit))
        speeds = (("vx", "mps", pose.speed_unit), ("vy", "mps", pose.speed_unit), ("yaw_rate", "radps", pose.rate_unit))
        for key, ending, unit in (*kinds, *speeds):
            yield from self._maybe(channel, f"{key}_{ending}", getattr(pose, key), unit)

    def _motors(self) -> Iterator[Source]:
        for quantity, group in (("current", self.motor_currents), ("voltage", self.motor_voltages)):
            for side in names.SIDES:
                entry = getattr(self, f"{side}_motor_{quantity}")
                yield from self._maybe(names.MOTORS, names.motor_column(quantity, side), entry)
            if group:
                columns = tuple(names.motor_column(quantity, k) for k in range(len(group.columns)))
                yield from self._group(names.MOTORS, columns, group)

    def _group(self, channel: str, columns: tuple[str, ...], group: Columns) -> Iterator[Source]:
        for name, place in zip(columns, group.columns, strict=True):
            entry = Column(column=place, unit=group.unit, scale=group.scale, increments=group.increments)
            yield self._source(channel, name, entry)

    def _maybe(self, channel: str, name: str, entry: Entry | None, unit: str | None = None) -> Iterator[Source]:
        if entry is not None:
            yield self._source(channel, name, entry, unit)

    def _source(self, channel: str, name: str, entry: Entry, unit: str | None = None) -> Source:
        """The entry's own unit counts, else that of the record it stands in, else ours."""
        column = entry if isinstance(entry, Column) else Column(column=entry)
        given, ours = column.unit or unit, names.unit_of_column(name)
        try:
            times = self._factor(name, given, ours) if given else 1.0
        except ParameterError as error:
            raise ParameterError(f"{channel}.{name}: {error}") from None
        return Source(channel, name, column.column, column.scale * times, column.increments)

    def _factor(self, name: str, unit: str, ours: str) -> float:
        if not ours:
            raise ParameterError(f"unit '{unit}' is given, but the name has none; expected a name that ends in its unit, as x_m")
        is_rolling = "wheel" in name or name.startswith(names.SIDES)
        if is_rolling and self.wheel_radius_m and ours in ("rad", "rad/s"):
            rolled = ours.replace("rad", "m")
            try:  # a speed at the rim, when it has that dimension
                return factor(unit, rolled) / self.wheel_radius_m
            except ParameterError:
                pass
        try:
            return factor(unit, ours)
        except ParameterError as error:
            hint = "; for a speed or way at the rim give wheel_radius_m" if is_rolling and not self.wheel_radius_m else ""
            raise ParameterError(f"{error}{hint}") from None
