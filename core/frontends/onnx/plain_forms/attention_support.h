#pragma once

#include "frontends/onnx/plain_forms/plain_support.h"

namespace fusescope::plain {

/// What is added to the scores of `query`: 0 where `mask` allows a key, `hidden` where it does not, and `bias`. `mask`
/// has 1 axis (the number of valid keys of each sequence, perhaps followed by their starts), 2 axes ([batch, keys]) or
/// 3 axes ([batch, queries, keys]). It is empty if there is neither.
struct ScoreBias {
  std::string mask, bias;
  std::string query;  ///< a value of the file, [batch, queries, …]
  std::string like;   ///< a value of the file with the type of the scores
  std::string keys;   ///< the number of keys, as a vector with one element
  float hidden = -10000.0F;
};
Result<std::string> addScoreBias(Form& form, const ScoreBias& wanted);

/// Adds the int64 values 0, 1, …, less than the only element of `count`.
std::string countingTo(Form& form, const std::string& what, const std::string& count);

}  // namespace fusescope::plain
