#pragma once

#include "frontends/onnx/plain_forms/plain_support.h"

namespace fusescope::plain {

/// What is added to the scores of `query`: 0 where `mask` lets a key be seen, `hidden` where not, and `bias`. `mask`
/// has 1 axis (how many keys of each sequence count, then maybe where they start), 2 ([batch, keys]) or 3 ([batch,
/// queries, keys]). Empty if neither is given.
struct ScoreBias {
  std::string mask, bias;
  std::string query;  ///< a value of the file, [batch, queries, …]
  std::string like;   ///< a value of the file that has the type of the scores
  std::string keys;   ///< how many keys there are, as a vector of one
  float hidden = -10000.0F;
};
Result<std::string> addScoreBias(Form& form, const ScoreBias& wanted);

/// 0, 1, … below the only element of `count`, int64.
std::string countingTo(Form& form, const std::string& what, const std::string& count);

}  // namespace fusescope::plain
