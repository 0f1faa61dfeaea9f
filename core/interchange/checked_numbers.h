#pragma once

#include <cstddef>
#include <string>

#include "base/json_fwd.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// How much the outputs of a network differ from the expected ones: the worst output over all samples.
struct OutputDifference {
  bool ok = true;          ///< every output is within the tolerance on every sample
  double worst = 0;        ///< max|Δ| over rms; infinite if a number is finite on one side only
  double notFinite = 0;    ///< the share of elements of the worst output that are finite on one side only
  std::string output;      ///< the name of the worst output
  std::size_t sample = 0;  ///< the sample on which it is worst, counted from 0
  std::string problem;     ///< why the outputs cannot be compared; empty: they can

  /// Compares one output on one sample.
  void add(std::size_t atSample, const std::string& name, const Tensor& actual, const Tensor& expected,
           const Tolerance& tolerance);
};
/// Returns a sentence like "'y' differs by 0.00167 of its rms" or "2.5 % of 'y' is infinite or NaN on one side only".
std::string inWords(const OutputDifference& apart);

/// The result of checking the numbers of an exported network on all samples.
struct CheckedNumbers {
  std::size_t samples = 0;
  Tolerance tolerance;  ///< from float32
  OutputDifference onReference,
      onEngine;  ///< differences from float32: on the reference, with each value between two nodes stored, and
                 ///< on our engine
  OutputDifference fromPlan;  ///< differences from the plan, on the reference
};
/// Returns a sentence like "checked on 2 samples: against float32, 'y' differs by …".
std::string inWords(const CheckedNumbers& checked);
/// Returns {samples, allowed, reference: {output, error, not_finite}, engine: {…}, plan: {…}, summary: inWords()}
Json toJson(const CheckedNumbers& checked);

}  // namespace fusescope
