"""A small network with random weights, and random pages for it."""

import numpy as np

from dripper.labels.cpu.arithmetic import snap
from dripper.labels.cpu.network import WEIGHT_STEPS, Shape
from dripper_lab.train.weights import list_weight_shapes

SHAPE = Shape(dilations=(1, 4, 2), pooled=(1,))
FEATURES, LEVELS, WIDTH, POOL = 7, 2, 6, 4


def random_weights(seed: int = 0, size: float = 0.5) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    shapes = list_weight_shapes(SHAPE, FEATURES, LEVELS, WIDTH, POOL)
    return {name: np.rint(draw.normal(0, size, of) * WEIGHT_STEPS) / WEIGHT_STEPS for name, of in shapes.items()}


def ranges(blocks: int) -> tuple[np.ndarray, np.ndarray]:
    starts = np.stack([np.arange(blocks) // 3 * 3, np.zeros(blocks, np.int64)], axis=1)
    ends = np.stack([np.minimum(starts[:, 0] + 3, blocks), np.full(blocks, blocks)], axis=1)
    return starts, ends


def random_features(blocks: int, seed: int = 1) -> np.ndarray:
    return snap(np.random.default_rng(seed).normal(0, 2, (blocks, FEATURES)))
