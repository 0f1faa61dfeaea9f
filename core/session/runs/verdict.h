#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/runs/run.h"

namespace fusescope {

/// Says whether the results of a run are close enough to float32.
struct Verdict {
  enum class Kind { Pass, Fail, Unknown };
  Kind kind = Kind::Unknown;
  std::string output;           ///< the worst of the network's outputs
  double error = 0;             ///< max|Δ| over rms of that output; infinite if a number became NaN or infinite
  bool notFinite = false;       ///< that output became infinite or NaN
  double ofBound = 0;           ///< the error divided by the bound: 1 is just within, 12 is twelve times too much
  std::string problem;          ///< why that output cannot be compared, if it cannot
  std::string firstWrong;       ///< for a failure: the first value in the order of the graph that is wrong
  bool firstNotFinite = false;  ///< a number became infinite or NaN at that value
  std::int64_t samples = 0;     ///< number of samples in the evaluation; 0 in older files
  std::int64_t failing = 0;     ///< number of these that fail
  std::string sample;           ///< the sample on which that output is worst
  std::string unknownWhy;       ///< why the verdict is unknown, for people
};

/// Returns the tolerance for judging numbers of `artifact` if a command is given no bounds: that of its session, or
/// else Tolerance::ofLoweredTypes(), with which a session begins. All commands and the window use it.
Tolerance toleranceOf(const Artifact& artifact);
/// Sets the tolerance of a session. The goal of a search for pins is changed too if it was equal to the tolerance
/// before: another error, or one in the unit of a metric, stays as the user gave it.
void setTolerance(RunSettings& settings, const Tolerance& tolerance);
/// Judges an evaluation, and finds where its errors first exceed `tolerance`: the first value that is not finite
/// although float32 is, or else the first one out of bounds; empty if there is none. Only values are considered from
/// which the error reaches an output. It is a pure function.
Verdict verdictOf(const Evaluation& evaluation, const Tolerance& tolerance);
/// Judges each sample of an evaluation separately, in order, without firstWrong. It is a pure function.
struct SampleVerdict {
  std::string sample;
  Verdict verdict;
};
std::vector<SampleVerdict> sampleVerdicts(const Evaluation& evaluation, const Tolerance& tolerance);
/// Returns the evaluation of a run to show for `settings`: the latest on their inputs that can be judged with their
/// tolerance, or else the latest on these inputs, or else the latest; null if it was never evaluated.
const Evaluation* evaluationFor(const Run& run, const RunSettings& settings);
/// Returns the errors layer by layer in the same way: the latest on the inputs of `settings` against their reference,
/// or else the latest on these inputs, or else the latest; null if there are none.
const RunErrors* errorsFor(const Run& run, const RunSettings& settings);
/// Judges that evaluation; the verdict is unknown if there is none.
Verdict verdictOf(const Run& run, const RunSettings& settings);
/// Returns "max|Δ| at most 0.001 of rms".
std::string inWords(const Tolerance& tolerance);
/// Returns "passes on 8 samples: worst is y on s_2, at 0.2 of what is allowed", or "fails on 3 of 8 samples: y is 12
/// times over what is allowed on s_2; first out of bounds at v".
std::string inWords(const Verdict& verdict);
Json toJson(const Verdict& verdict);

}  // namespace fusescope
