"""Draws of a drive's unknowns by an ensemble sampler, where a Gaussian about the fit is not to be taken on trust.

What acts on the motion is sampled with replays; what acts on the sensors alone enters nearly linearly and is integrated out
(docs/theory/calibration, eq. (marginal)). Needs emcee, which `pip install 'slipfit[posterior]'` brings.
Reference  [ForemanMackey2013], [GoodmanWeare2010]
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from slipfit.calibration.choice import NOT_RELAXING
from slipfit.calibration.one_drive import Fitter, Problem, Solution
from slipfit.calibration.spread import CUT_BY_COUNTS, Spread, robust_weights
from slipfit.calibration.unknowns import Unknown
from slipfit.calibration.weights import Weighing
from slipfit.errors import FitError, ParameterError
from slipfit.library.files import nearest

PosteriorKind = Literal["gauss", "emcee"]

#: Walkers per unknown.
WALKERS = 4

#: Steps between two looks at the chain, and the most of them.
STEPS_AT_ONCE, MOST_STEPS = 50, 500

#: The chain ends with so many effective draws of every unknown; fewer than the second are told as too few.
ENOUGH_DRAWS, FEWEST_DRAWS = 1000.0, 200.0

#: Steps that are dropped at the start, in autocorrelation times, but never more than half.
DROPPED_TIMES = 5.0

#: Half of the moves are drawn from the Gauss approximation, with Student's tails and a little wider, so that none is left out.
TAILS, WIDER = 5.0, 1.1

#: Walkers that start outside the bounds are drawn anew this often, each time by this factor nearer to the fit.
ROUNDS_OF_STARTING, NEARER = 100, 0.9

#: A mean this many deviations from the fit is told.
FAR_FROM_FIT = 1.0


def checked_kind(kind: str) -> PosteriorKind:
    """The name of a posterior, or a sentence; also where emcee is asked for and not there."""
    for known in get_args(PosteriorKind):
        if kind == known:
            if kind == "emcee":
                _emcee()
            return known  # type: ignore[no-any-return]
    raise ParameterError(f"posterior '{kind}' is not known; {nearest(kind, get_args(PosteriorKind))}")


def _emcee() -> Any:
    """The sampler's package: imported only when it is asked for."""
    try:
        import emcee
    except ImportError:
        raise ParameterError(
            "posterior 'emcee' needs the package emcee, which is not installed; pip install 'slipfit[posterior]', "
            "or leave the posterior at 'gauss'"
        ) from None
    return emcee


@dataclass(frozen=True, eq=False, slots=True)
class Posterior:
    """Draws of what acts on the motion, and how far the chain behind them can be trusted."""

    draws: Mapping[str, np.ndarray]  # by unknown, in the order of the chain, all walkers after one another
    at_fit: Mapping[str, float]  # where the fit has them
    acceptance: float  # share of the proposals that were taken
    autocorrelation_steps: Mapping[str, float]
    effective_draws: float  # of the unknown that has the fewest
    steps: int  # all, with those that were dropped
    dropped_steps: int
    walkers: int

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences for a reader who wants to use the draws; none if all is well."""
        said = []
        if self.effective_draws < FEWEST_DRAWS:
            said.append(
                f"the posterior's chain is too short: {self.effective_draws:.0f} effective draws after {self.steps} steps, "
                f"expected {FEWEST_DRAWS:.0f} or more; do not use its intervals, drive longer or take --posterior gauss"
            )
        for name, draws in self.draws.items():
            away = (float(draws.mean()) - self.at_fit[name]) / max(float(draws.std()), 1e-300)
            if abs(away) > FAR_FROM_FIT:
                said.append(f"the posterior's mean of {name} lies {away:+.1f} deviations from the fit: it is not a Gaussian")
        return tuple(said)

    def summary(self) -> str:
        """A few lines of text."""
        rows = [
            f"{self.effective_draws:.0f} effective draws by {self.walkers} walkers in {self.steps} steps, "
            f"{100.0 * self.acceptance:.0f} % of the proposals taken"
        ]
        for name, draws in self.draws.items():
            low, high = np.quantile(draws, [0.05, 0.95])
            rows.append(f"  {name:<26}{draws.mean():>12.5g} ± {draws.std():<10.2g}90 % in {low:.5g} to {high:.5g}")
        return "\n".join([*rows, *(f"  note: {doubt}" for doubt in self.doubts)])

    def to_document(self) -> dict[str, Any]:
        """For --json: of the draws their moments and quantiles."""
        return {
            "effective_draws": self.effective_draws,
            "acceptance": self.acceptance,
            "steps": self.steps,
            "dropped_steps": self.dropped_steps,
            "walkers": self.walkers,
            "autocorrelation_steps": dict(self.autocorrelation_steps),
            "unknowns": {
                name: {
                    "mean": float(draws.mean()),
                    "std": float(draws.std()),
                    "quantiles": {f"{q:g}": float(np.quantile(draws, q)) for q in (0.05, 0.25, 0.5, 0.75, 0.95)},
                }
                for name, draws in self.draws.items()
            },
        }


@dataclass(frozen=True, eq=False, slots=True)
class Marginal:
    """Log likelihood by how white residuals change, with unknowns that enter linearly integrated out.

        log L = -1/2 (|d|^2 - |U^T d|^2) - g^T d

    Symbols  d change of the residuals since the fit, times the roots of the robust weights · U orthonormal basis of the linear
             unknowns' columns, expectations included, in the rows of the data · g what the fit leaves, less what its linear
             unknowns would still take of it
    Reference  derived in docs/theory/calibration, eq. (marginal)
    """

    basis: np.ndarray  # (N, k)
    pull: np.ndarray  # (N,)

    def __call__(self, changes: np.ndarray) -> np.ndarray:
        """Of several changes, (n, N)."""
        taken = changes @ self.basis
        return np.asarray(-0.5 * ((changes**2).sum(axis=1) - (taken**2).sum(axis=1)) - changes @ self.pull)


def integrated_out(left: np.ndarray, columns: np.ndarray, prior: np.ndarray, away: np.ndarray, is_held: np.ndarray) -> Marginal:
    """The marginal likelihood about a fit.

    Parameters
    ----------
    left : what the fit leaves, (N,)
    columns : Jacobian of the linear unknowns, (N, k)
    prior : 1 / expected spread of each, 0 where nothing is expected, (k,)
    away : value at the fit less the expected one, (k,)
    is_held : those that the fit held where they are: they widen the answer, but do not move it, (k,)
    """
    rows = np.concatenate([left, prior * away])
    wide = np.vstack([columns, np.diag(prior)])
    fitted = _basis(wide[:, ~is_held])
    pull = rows - fitted @ (fitted.T @ rows)
    return Marginal(_basis(wide)[: len(left)], pull[: len(left)])


def _basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of what columns span; those that nothing shows are left out."""
    length = np.linalg.norm(columns, axis=0)
    kept = length > 0.0
    vectors, values, _ = np.linalg.svd(columns[:, kept] / length[kept], full_matrices=False)
    return np.asarray(vectors[:, values > 1e-9])


@dataclass(frozen=True, eq=False, slots=True)
class Density:
    """Log density of the sampled unknowns x = fit + root y, over coarse replays.

    Residuals are those of the fit plus what changes from one coarse replay to another: the peak stays where the fine one has
    it. Each unknown's deviation from the fit is divided by its inflation first, so that residuals which are not white widen
    the draws as they widen a Gaussian's spread.
    Reference  curvature adjustment [Ribatet2012]
    """

    problem: Problem  # with a coarse replay
    unknowns: tuple[Unknown, ...]  # all that the fit found
    fit: np.ndarray  # their values
    weighings: tuple[Weighing | None, ...]
    sampled: np.ndarray  # numbers of those that are sampled
    inflation: np.ndarray
    root: np.ndarray  # L, where L L^T is the covariance of the Gauss approximation
    marginal: Marginal
    weight: np.ndarray  # roots of the robust weights
    at_fit: np.ndarray  # white residuals of the coarse replay at the fit

    @classmethod
    def about(cls, problem: Problem, solution: Solution, spread: Spread) -> "Density":
        """About a fit. Tyres that the fit did not let relax stay linear: what they might change is part of the spread."""
        is_held = np.array([u in NOT_RELAXING for u in solution.unknowns])
        found = _without(problem, solution, is_held)
        look = replace(problem, replay=problem.replay.coarse())
        weight = np.sqrt(robust_weights(found.white))
        is_sampled = np.array([u.acts_on == "motion" for u in found.unknowns])
        linear = [u for u, chosen in zip(found.unknowns, is_sampled, strict=True) if not chosen]
        held = [u for u, chosen in zip(solution.unknowns, is_held, strict=True) if chosen]
        columns = np.column_stack([found.jacobian[:, ~is_sampled], solution.jacobian[:, is_held]])
        away = np.concatenate([found.values[~is_sampled] - [u.expected for u in linear], np.zeros(len(held))])
        is_last = np.arange(len(linear) + len(held)) >= len(linear)
        rows = np.flatnonzero(~is_held)[is_sampled]
        covariance = spread.covariance[np.ix_(rows, rows)] - np.diag(_cut_by_counts(solution)[rows] ** 2)
        return cls(
            problem=look,
            unknowns=found.unknowns,
            fit=found.values,
            weighings=found.weighings,
            sampled=np.flatnonzero(is_sampled),
            inflation=spread.inflation[rows],
            root=_root(covariance),
            marginal=integrated_out(
                weight * found.white, weight[:, None] * columns, _expected_precision([*linear, *held]), away, is_last
            ),
            weight=weight,
            at_fit=_white(look, found.unknowns, found.weighings, found.values[None])[0],
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.unknowns[j].name for j in self.sampled)

    def values(self, y: np.ndarray) -> np.ndarray:
        """Unknowns at steps of the Gauss approximation, (..., k)."""
        return np.asarray(self.fit[self.sampled] + y @ self.root.T)

    def __call__(self, y: np.ndarray) -> np.ndarray:
        """Of several steps, (n, k); -inf outside the bounds."""
        unknowns = [self.unknowns[j] for j in self.sampled]
        low, high = np.array([u.bounds() for u in unknowns]).T
        fit, values = self.fit[self.sampled], self.values(y)
        found = np.full(len(y), -np.inf)
        inside = ((values >= low) & (values <= high)).all(axis=1)
        if inside.any():
            eased = fit + (values[inside] - fit) / self.inflation
            points = np.repeat(self.fit[None], len(eased), axis=0)
            points[:, self.sampled] = np.clip(eased, low, high)
            changes = self.weight * (_white(self.problem, self.unknowns, self.weighings, points) - self.at_fit)
            away = _expected_precision(unknowns) * (eased - [u.expected for u in unknowns])
            log = self.marginal(changes) - 0.5 * (away**2).sum(axis=1)
            found[inside] = np.where(np.isfinite(log), log, -np.inf)
        return found


def _without(problem: Problem, solution: Solution, is_held: np.ndarray) -> Solution:
    """The solution as the fit ran it, without tyres that hardly relax: replays with them are not quite the same."""
    fitter = Fitter(problem)
    fitter.weighings = list(solution.weighings)
    unknowns = [u for u, held in zip(solution.unknowns, is_held, strict=True) if not held]
    return fitter.solution(unknowns, solution.values[~is_held], cost=solution.cost, is_converged=solution.is_converged)


def _white(problem: Problem, unknowns: Sequence[Unknown], weighings: Sequence[Weighing | None], points: np.ndarray) -> np.ndarray:
    """White residuals of replays, (n, N)."""
    names = [u.name for u in unknowns]
    bodies = problem.bodies(unknowns, points)
    residuals = [problem.residuals(names, point, body) for point, body in zip(points, bodies, strict=True)]
    return np.array(
        [np.concatenate([w.whiten(r) for w, r in zip(weighings, rs, strict=True) if w is not None]) for rs in residuals]
    )


def _expected_precision(unknowns: Sequence[Unknown]) -> np.ndarray:
    """1 / expected spread, 0 where nothing is expected."""
    return np.array([1.0 / u.prior_std if u.prior_std else 0.0 for u in unknowns])


def _cut_by_counts(solution: Solution) -> np.ndarray:
    """The part of each spread that no residual shows: only a limit has one."""
    return np.array([CUT_BY_COUNTS * v if name == "mu" else 0.0 for name, v in zip(solution.names, solution.values, strict=True)])


def _root(covariance: np.ndarray) -> np.ndarray:
    """L with L L^T = covariance, also where rounding made it singular."""
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 1e-12)))


def sample_posterior(
    problem: Problem, solution: Solution, spread: Spread, *, progress: Callable[[str], None] = lambda _: None, seed: int = 0
) -> Posterior:
    """Draws about a fit: the same each time for one seed."""
    density = Density.about(problem, solution, spread)
    with threadpool_limits(1):  # small matrices: threads of BLAS would only wait for each other
        chain, acceptance = run_chain(density, len(density.sampled), progress=progress, seed=seed)
    values = density.values(chain)
    times = autocorrelation_steps(values)
    dropped = _dropped(times, len(chain))
    kept = values[dropped:].reshape(-1, len(density.sampled))
    cut = dict(zip(solution.names, _cut_by_counts(solution), strict=True))
    extra = np.random.default_rng(seed).standard_normal(kept.shape) * [cut[name] for name in density.names]
    return Posterior(
        draws=dict(zip(density.names, (kept + extra).T, strict=True)),
        at_fit=dict(zip(density.names, map(float, density.fit[density.sampled]), strict=True)),
        acceptance=acceptance,
        autocorrelation_steps=dict(zip(density.names, map(float, times), strict=True)),
        effective_draws=float(len(kept) / times.max()),
        steps=len(chain),
        dropped_steps=dropped,
        walkers=chain.shape[1],
    )


def run_chain(
    log_density: Callable[[np.ndarray], np.ndarray],
    unknowns: int,
    *,
    progress: Callable[[str], None] = lambda _: None,
    seed: int = 0,
) -> tuple[np.ndarray, float]:
    """Chain (steps, walkers, k) of a density near the standard normal, until it has enough draws, and the share of moves taken.

    Half of the moves stretch between walkers, whatever the shape; the other half are drawn anew from a Student distribution:
    where the density is nearly a Gaussian, a few steps make a draw that owes nothing to the one before.
    """
    emcee = _emcee()
    source = np.random.RandomState(seed)  # what emcee draws from
    start = _start(log_density, source, WALKERS * unknowns, unknowns)
    moves = [(emcee.moves.StretchMove(), 0.5), (emcee.moves.MHMove(_drawn_anew), 0.5)]
    sampler = emcee.EnsembleSampler(len(start), unknowns, log_density, moves=moves, vectorize=True)
    sampler.random_state = source.get_state()
    state: Any = start
    effective = 0.0
    while effective < ENOUGH_DRAWS and sampler.iteration < MOST_STEPS:
        state = sampler.run_mcmc(state, min(STEPS_AT_ONCE, MOST_STEPS - sampler.iteration))
        chain = sampler.get_chain()
        times = autocorrelation_steps(chain)
        effective = (len(chain) - _dropped(times, len(chain))) * len(start) / float(times.max())
        progress(f"sampling the posterior: {len(chain)} steps, {effective:.0f} of {ENOUGH_DRAWS:.0f} effective draws")
    return np.asarray(chain), float(np.mean(sampler.acceptance_fraction))


def autocorrelation_steps(chain: np.ndarray) -> np.ndarray:
    """Integrated autocorrelation time of each unknown, in steps, at least 1; a chain that stands still has its own length."""
    times = np.asarray(_emcee().autocorr.integrated_time(chain, tol=0))
    return np.where(np.isfinite(times), np.maximum(times, 1.0), float(len(chain)))


def _dropped(times: np.ndarray, steps: int) -> int:
    return int(min(DROPPED_TIMES * times.max(), steps // 2))


def _start(
    log_density: Callable[[np.ndarray], np.ndarray], source: np.random.RandomState, walkers: int, unknowns: int
) -> np.ndarray:
    """Walkers from the Gauss approximation; those outside the bounds are drawn anew, nearer and nearer to the fit."""
    places = source.standard_normal((walkers, unknowns))
    outside = ~np.isfinite(log_density(places))
    for again in range(ROUNDS_OF_STARTING):
        if not outside.any():
            return places
        places[outside] = NEARER ** (again + 1) * source.standard_normal((int(outside.sum()), unknowns))
        outside[outside] = ~np.isfinite(log_density(places[outside]))
    raise FitError("posterior: replays about the fit are not finite, expected finite ones; take --posterior gauss")


def _drawn_anew(places: np.ndarray, source: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Proposals that do not depend on where walkers are, and log q(old) - log q(new)."""
    tail = np.sqrt(source.chisquare(TAILS, len(places)) / TAILS)
    proposed = WIDER * source.standard_normal(places.shape) / tail[:, None]
    return proposed, _log_student(places) - _log_student(proposed)


def _log_student(y: np.ndarray) -> np.ndarray:
    return np.asarray(-0.5 * (TAILS + y.shape[1]) * np.log1p(((y / WIDER) ** 2).sum(axis=1) / TAILS))
