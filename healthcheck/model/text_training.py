"""Texts of training logs: what a reader met on the way."""

from __future__ import annotations

TRAINING_TEXTS: dict[str, str] = {
    "training.crossed": "two processes wrote into one line: of it only what stands whole was read",
    "training.dispatch": "the time of a step was taken before the devices had done it: it is left out",
    "training.resized": "the training went on with {after} {after:GPU|GPUs} instead of {before}",
    "training.also": "the log also has reports of {framework} ({count} until it was clear whose log it is): not read",
}
