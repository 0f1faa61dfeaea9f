#pragma once

#include <cstddef>
#include <string>

#include "base/json.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// How far the outputs of a network are from what they are held against: the worst one of all samples.
struct OutputsApart {
  bool ok = true;          ///< every output is within the tolerance on every sample
  double worst = 0;        ///< max|Δ| over rms; infinite where a number is finite on one side only
  double notFinite = 0;    ///< the share of that output that is finite on one side only
  std::string output;      ///< the worst one
  std::size_t sample = 0;  ///< on which it is that, counted from 0
  std::string problem;     ///< why it cannot be compared; empty: it can

  /// Takes what one output gave on one sample.
  void add(std::size_t atSample, const std::string& name, const Tensor& actual, const Tensor& expected,
           const Tolerance& tolerance);
};
/// "'y' differs by 0.00167 of its rms", "2.5 % of 'y' is infinite or NaN on one side only".
std::string inWords(const OutputsApart& apart);

/// What the numbers of an exported network are, on all samples.
struct CheckedNumbers {
  std::size_t samples = 0;
  Tolerance tolerance;  ///< from float32
  OutputsApart onReference,
      onEngine;           ///< from float32: with each value between two nodes stored; and as our engine runs it
  OutputsApart fromPlan;  ///< on the reference
};
/// "checked on 2 samples: from float32 'y' differs by …".
std::string inWords(const CheckedNumbers& checked);
/// {samples, allowed, reference: {output, error, not_finite}, engine: {…}, plan: {…}, summary: inWords()}
Json toJson(const CheckedNumbers& checked);

}  // namespace fusescope
