"""Spreads of least squares when all equations of a run share their errors: runs are independent, rows are not.

    B = (A^H A + P)^-1,    e_g = (I - A_g B A_g^H)^-1 r_g,    S = B (sum_g A_g^H e_g e_g^H A_g + q P) B

Symbols    A, r rows over their expected errors and their residuals · P prior precisions · g a run · e_g its residuals by the fit
           without it · q how far the prior is scaled: 1 for one that is known by itself
Reference  sandwich with clusters and left-out residuals, CR3 of [BellMcCaffrey2002]; intervals by Student's quantile of the runs,
           `spread.quantile`
"""

import numpy as np


def left_out_residuals(matrix: np.ndarray, inverse: np.ndarray, residual: np.ndarray, run: np.ndarray) -> np.ndarray:
    """Residuals of each run, (rows,), by the fit of all others; `run` says whose a row is."""
    through, found = matrix @ inverse, np.empty_like(residual)
    for g in np.unique(run):
        of = np.flatnonzero(run == g)
        found[of] = np.linalg.solve(np.eye(len(of)) - through[of] @ matrix[of].conj().T, residual[of])
    return found


def covariance_by_run(
    matrix: np.ndarray, inverse: np.ndarray, left_out: np.ndarray, run: np.ndarray, prior: np.ndarray
) -> np.ndarray:
    """S of the unknowns; `inverse` is B, and `prior` the matrix q P."""
    pulls = np.array([matrix[run == g].conj().T @ left_out[run == g] for g in np.unique(run)])
    return np.asarray(inverse @ (pulls.T @ pulls.conj() + prior) @ inverse)


def freedom_by_run(matrix: np.ndarray, inverse: np.ndarray, series: np.ndarray) -> np.ndarray:
    """Degrees of freedom of each spread, (unknowns,): (sum v)^2 / sum v^2, where v is what one series of rows adds to it.

    A series is one run's rows of one kind, whose errors go together; where few series tell an unknown, its spread is less sure.
    Reference  Welch and Satterthwaite, JCGM 100:2008 annex G.4; every v from equal errors, as [BellMcCaffrey2002]
    """
    names, counts = np.unique(series, return_counts=True)
    shared = np.array([matrix[series == name].sum(axis=0) for name in names]) / np.sqrt(counts)[:, None]
    added = np.abs(shared @ inverse) ** 2
    return np.asarray(added.sum(axis=0) ** 2 / (added**2).sum(axis=0))
