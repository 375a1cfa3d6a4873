/* The arithmetic of the book's interactive figures: what the module `iou` does, for one pair.
   A box is [x_min, y_min, x_max, y_max]. tests/test_playground.py holds every function here
   equal to the module. */
"use strict";

const IoU = (() => {
  const FORMATS = {
    xyxy: ["x_min", "y_min", "x_max", "y_max"],
    xywh: ["x_min", "y_min", "w", "h"],
    cxcywh: ["x_c", "y_c", "w", "h"],
    xyxy_inclusive: ["x_min", "y_min", "x_max", "y_max"],
  };

  const TO_CORNERS = {
    xyxy: (x1, y1, x2, y2) => [x1, y1, x2, y2],
    xywh: (x, y, w, h) => [x, y, x + w, y + h],
    cxcywh: (x, y, w, h) => [x - w / 2, y - h / 2, x + w / 2, y + h / 2],
    xyxy_inclusive: (x1, y1, x2, y2) => [x1, y1, x2 + 1, y2 + 1],
  };

  const FROM_CORNERS = {
    xyxy: (x1, y1, x2, y2) => [x1, y1, x2, y2],
    xywh: (x1, y1, x2, y2) => [x1, y1, x2 - x1, y2 - y1],
    cxcywh: (x1, y1, x2, y2) => [(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1],
    xyxy_inclusive: (x1, y1, x2, y2) => [x1, y1, x2 - 1, y2 - 1],
  };

  const toCorners = (box, format) => TO_CORNERS[format](...box);
  const fromCorners = (box, format) => FROM_CORNERS[format](...box);

  // 0/0 is 0, here as in the module.
  const ratio = (part, whole) => (whole === 0 ? 0 : part / whole);

  /* Every term of the derivation, from the corners to CIoU. */
  function derive(a, b) {
    const start = [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
    const end = [Math.min(a[2], b[2]), Math.min(a[3], b[3])];
    const width = Math.max(0, end[0] - start[0]);
    const height = Math.max(0, end[1] - start[1]);
    const intersection = width * height;

    const sidesA = [a[2] - a[0], a[3] - a[1]];
    const sidesB = [b[2] - b[0], b[3] - b[1]];
    const areaA = sidesA[0] * sidesA[1];
    const areaB = sidesB[0] * sidesB[1];
    const union = areaA + areaB - intersection;
    const iou = ratio(intersection, union);

    const hull = [
      Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3]),
    ];
    const hullSides = [hull[2] - hull[0], hull[3] - hull[1]];
    const hullArea = hullSides[0] * hullSides[1];
    const waste = Math.max(0, hullArea - union);
    const giou = iou - ratio(waste, hullArea);

    const between = [(b[0] - a[0] + (b[2] - a[2])) / 2, (b[1] - a[1] + (b[3] - a[3])) / 2];
    const distance2 = between[0] ** 2 + between[1] ** 2;
    const diagonal2 = hullSides[0] ** 2 + hullSides[1] ** 2;
    const diou = iou - ratio(distance2, diagonal2);

    const turn = (2 / Math.PI) * (Math.atan2(...sidesB) - Math.atan2(...sidesA));
    const v = turn ** 2;
    const alpha = ratio(v, 1 - iou + v);
    const ciou = diou - alpha * v;

    return {
      start, end, width, height, intersection, sidesA, sidesB, areaA, areaB, union, iou,
      hull, hullSides, hullArea, waste, giou, between, distance2, diagonal2, diou, v, alpha, ciou,
    };
  }

  /* The exact values of IoU, GIoU and DIoU, as [numerator, denominator] in lowest terms, for boxes
     whose eight numbers are whole; null for others. */
  function fractions(a, b) {
    if (![...a, ...b].every(Number.isSafeInteger)) return null;
    const [ax1, ay1, ax2, ay2] = a.map(BigInt);
    const [bx1, by1, bx2, by2] = b.map(BigInt);
    const min = (x, y) => (x < y ? x : y);
    const max = (x, y) => (x > y ? x : y);
    const width = max(0n, min(ax2, bx2) - max(ax1, bx1));
    const height = max(0n, min(ay2, by2) - max(ay1, by1));
    const shared = width * height;
    const union = (ax2 - ax1) * (ay2 - ay1) + (bx2 - bx1) * (by2 - by1) - shared;
    const hullWidth = max(ax2, bx2) - min(ax1, bx1);
    const hullHeight = max(ay2, by2) - min(ay1, by1);
    const hull = hullWidth * hullHeight;
    const twiceX = bx1 + bx2 - ax1 - ax2;
    const twiceY = by1 + by2 - ay1 - ay2;
    const iou = lowest(shared, union);
    return {
      iou,
      giou: minus(iou, lowest(hull - union, hull)),
      diou: minus(
        iou, lowest(twiceX ** 2n + twiceY ** 2n, 4n * (hullWidth ** 2n + hullHeight ** 2n)),
      ),
    };
  }

  const minus = ([p, q], [r, s]) => lowest(p * s - r * q, q * s);

  function lowest(part, whole) {
    if (whole === 0n) return [0n, 1n];
    let [x, y] = [part < 0n ? -part : part, whole];
    while (y) [x, y] = [y, x % y];
    return [part / x, whole / x];
  }

  // Of equal scores, the one that stands first goes first.
  const byFallingScore = (scores) => scores.map((_, i) => i).sort((i, j) => scores[j] - scores[i]);

  /* Non-maximum suppression: the indices of the boxes that stay, by falling score. */
  function nms(boxes, scores, threshold) {
    const kept = [];
    for (const i of byFallingScore(scores)) {
      if (kept.every((k) => derive(boxes[k], boxes[i]).iou <= threshold)) kept.push(i);
    }
    return kept;
  }

  /* Each prediction, by falling score, takes the free truth with which its IoU is highest, if that
     is at least `threshold`; of truths with the same IoU the last, as in COCO. Gives the truth that
     each prediction takes, or −1. */
  function match(boxes, scores, truths, threshold) {
    const taken = new Set();
    const match = boxes.map(() => -1);
    for (const i of byFallingScore(scores)) {
      let best = threshold;
      truths.forEach((truth, t) => {
        const { iou } = derive(boxes[i], truth);
        if (!taken.has(t) && iou >= best) {
          best = iou;
          match[i] = t;
        }
      });
      if (match[i] >= 0) taken.add(match[i]);
    }
    return match;
  }

  /* Why each prediction is true or false, given the truths that `match` let them take. */
  const outcomes = (boxes, taken, truths, threshold) =>
    boxes.map((box, i) => {
      if (taken[i] >= 0) return "true positive";
      const nearest = Math.max(0, ...truths.map((truth) => derive(box, truth).iou));
      if (nearest >= threshold) return "duplicate";
      return nearest >= 0.1 ? "poor placing" : "background";
    });

  return {
    FORMATS, toCorners, fromCorners, derive, fractions, byFallingScore, nms, match, outcomes,
  };
})();
