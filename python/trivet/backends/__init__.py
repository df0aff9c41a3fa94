"""Descriptions of targets."""
