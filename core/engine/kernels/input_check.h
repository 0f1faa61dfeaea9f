#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "planning/plan.h"

namespace fusescope {

/// Checks the inputs that a caller passes to an engine: every input must be there, none may be unknown (the error
/// suggests the nearest name), types and ranks must match, extents must be within the InputSpec unless that is only
/// assumed, and int64 values must be in the range of int32 where the plan truncates. Returns the extents by name; a
/// container has none.
Result<std::map<std::string, Dims>> checkInputs(const Plan& plan, const std::map<std::string, Tensor>& inputs);

/// An input with elements that are NaN or infinite. This can be intended (a mask of -infinity), but often is not.
struct NotFiniteInput {
  std::string sample;  ///< empty if there is only one sample
  std::string input;
  std::int64_t nan = 0, infinite = 0;  ///< elements
};
/// Returns the inputs with such elements, by name.
std::vector<NotFiniteInput> notFiniteInputs(const std::map<std::string, Tensor>& inputs, const std::string& sample);
/// Returns them as text: "input 'x' of sample 'photo' holds 3 NaN and 1 infinity, input 'y' …". If there are many, it
/// lists three and says how many there are besides.
std::string inWords(const std::vector<NotFiniteInput>& inputs);

/// Returns the names of `samples` samples for errors: `names` if there is one for each, otherwise "2 of 3". The name of
/// a single sample is empty, and errors do not mention it.
std::vector<std::string> sampleNames(const std::vector<std::string>& names, std::size_t samples);
/// Adds the name of the sample to `error`, which occurred while that sample ran.
Diagnostic onSample(Diagnostic error, const std::string& name);
template <class T>
Result<T> onSample(Result<T> result, const std::string& name) {
  if (result.ok()) return result;
  return onSample(std::move(result).error(), name);
}

/// Returns the end of the group of samples, beginning at `begin`, that are run together. `extents` are those of the
/// first sample; the other samples of the group have the same ones. At `bytes` bytes per sample the group needs at most
/// `mostBytes`, but it has at least one sample. `inputsOf` returns the inputs of a sample. Errors: those of
/// checkInputs().
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

/// Returns the extents for which a build is specialised: those in `given`, and the opt extents of the InputSpec for
/// other inputs. Errors: a name that is not an input, extents that are unknown or not allowed.
Result<std::map<std::string, Dims>> buildExtents(const Plan& plan, const std::map<std::string, Dims>& given);

}  // namespace fusescope
