"""Constants of soils that several tests use, written down here."""

#: Dry sand of the specification's table (section 5), its shear modulus assumed.
DRY_SAND = {
    "k_c": 990.0,
    "k_phi": 1528430.0,
    "n": 1.1,
    "cohesion_pa": 1040.0,
    "friction_angle_rad": 0.488692,
    "shear_modulus_m": 0.012,
}
