"""Figures, tables and reports from results files of reduce-bench."""
