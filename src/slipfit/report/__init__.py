"""Figures and reports: they read results and compute nothing."""
