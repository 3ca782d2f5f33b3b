"""Equations of motion per drive type. Vehicles are handed laws, grounds and powertrains, and contain none."""
