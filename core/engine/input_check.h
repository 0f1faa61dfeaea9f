#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// Checks what a caller gives an engine: every input there, none unknown (the nearest is named), type, rank, extents
/// within the InputSpec unless that was only assumed, int64 values in the range of int32 where the plan truncates.
/// Returns the extents by name; a container has none.
Result<std::map<std::string, Dims>> checkInputs(const Plan& plan, const std::map<std::string, Tensor>& inputs);

/// An input that holds something that is no number: it may be meant (a mask of -infinity), and often is not.
struct NotFiniteInput {
  std::string sample;  ///< empty: there is one alone
  std::string input;
  std::int64_t nan = 0, infinite = 0;  ///< elements
};
/// Those of `inputs`, by name.
std::vector<NotFiniteInput> notFiniteInputs(const std::map<std::string, Tensor>& inputs, const std::string& sample);
/// "input 'x' of sample 'photo' holds 3 NaN and 1 infinity, input 'y' …"; of many the first three, and how many more.
std::string inWords(const std::vector<NotFiniteInput>& inputs);

/// What errors call each of so many samples: `names`, if it has one for each, else "2 of 3". A sample alone has an
/// empty one, and errors do not say it.
std::vector<std::string> sampleNames(const std::vector<std::string>& names, std::size_t samples);
/// `error`, which came as the sample of this name ran.
Diagnostic onSample(Diagnostic error, const std::string& name);
template <class T>
Result<T> onSample(Result<T> result, const std::string& name) {
  if (result.ok()) return result;
  return onSample(std::move(result).error(), name);
}

/// Where the stretch of samples ends that are run together from `begin` on, which has `extents`: those behind it have
/// them too, and of `bytes` each they take no more than `mostBytes`, or it is one. `inputsOf` gives a sample's inputs.
/// Errors: those of checkInputs().
template <class Samples, class InputsOf = std::identity>
Result<std::size_t> endOfStretch(const Plan& plan, const Samples& samples, std::size_t begin,
                                 const std::map<std::string, Dims>& extents, std::size_t bytes, std::size_t mostBytes,
                                 const InputsOf& inputsOf = {}) {
  const std::size_t together = std::max<std::size_t>(1, mostBytes / std::max<std::size_t>(1, bytes));
  std::size_t end = begin + 1;
  while (end < samples.size() && end - begin < together &&
         TRY(checkInputs(plan, std::invoke(inputsOf, samples[end]))) == extents)
    ++end;
  return end;
}

/// The extents that a build is specialised for: `given` where it says, else the InputSpec's opt. Errors: a name that
/// is no input, extents that are not known or not allowed.
Result<std::map<std::string, Dims>> buildExtents(const Plan& plan, const std::map<std::string, Dims>& given);

}  // namespace fusescope
