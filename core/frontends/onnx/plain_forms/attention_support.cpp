#include "frontends/onnx/plain_forms/attention_support.h"

namespace fusescope::plain {
namespace {

/// Makes a mask [batch, 1, 1, keys] from the number of valid keys of each sequence, and from their starts in the second
/// half of `lengths`.
std::string seenByLength(Form& form, const ScoreBias& wanted) {
  const std::string lengths = form.add("lengths", "Cast", {wanted.mask}, {attribute("to", kInt64)});
  const std::string batch = form.extentVector("batch", wanted.query, 0);
  const std::string zero = form.ints("zero", {0}), flat = form.ints("flat", {-1, 1});
  const std::string twice = form.add("batch_twice", "Add", {batch, batch});
  const std::string ends = form.add("ends", "Slice", {lengths, zero, batch});
  // If there is no second half, zeros replace it.
  const std::string zeros = form.add("no_starts", "Sub", {ends, ends});
  const std::string both =
      form.add("ends_and_starts", "Concat", {lengths, zeros}, {attribute("axis", std::int64_t{0})});
  const std::string starts = form.add("starts", "Slice", {both, batch, twice});
  const std::string places = countingTo(form, "places", wanted.keys);
  const std::string before = form.add("before_end", "Less", {places, form.add("end", "Reshape", {ends, flat})});
  const std::string after =
      form.add("from_start", "GreaterOrEqual", {places, form.add("start", "Reshape", {starts, flat})});
  const std::string seen = form.add("is_seen", "And", {before, after});
  return form.add("seen", "Unsqueeze", {seen, form.ints("mask_axes", {1, 2})});
}

Result<std::string> seenKeys(Form& form, const ScoreBias& wanted) {
  const std::size_t rank = TRY(form.rankNeeded(wanted.mask));
  if (rank == 1) return seenByLength(form, wanted);
  const std::string seen = form.add("mask", "Cast", {wanted.mask}, {attribute("to", kBool)});
  if (rank == 2) return form.add("seen", "Unsqueeze", {seen, form.ints("mask_axes", {1, 2})});
  if (rank == 3) return form.add("seen", "Unsqueeze", {seen, form.ints("mask_axes", {1})});
  return form.problem("its mask has " + std::to_string(rank) + " axes, expected 1 to 3");
}

}  // namespace

std::string countingTo(Form& form, const std::string& what, const std::string& count) {
  const std::string scalar = form.ints(what + "_scalar", {});
  const std::string end = form.add(what + "_count", "Reshape", {count, scalar});
  return form.add(what, "Range", {form.scalar(what + "_first", 0), end, form.scalar(what + "_step", 1)});
}

Result<std::string> addScoreBias(Form& form, const ScoreBias& wanted) {
  // A mask with one column for all keys changes no probability.
  const bool masked = !wanted.mask.empty() && !(form.rank(wanted.mask) == 2 && form.extent(wanted.mask, 1) == 1);
  if (!masked) return wanted.bias;
  const std::string seen = TRY(seenKeys(form, wanted));
  const std::string none = form.numberLike("seen_bias", 0.0F, wanted.like);
  const std::string hidden = form.numberLike("hidden_bias", wanted.hidden, wanted.like);
  const std::string bias = form.add("mask_bias", "Where", {seen, none, hidden});
  return wanted.bias.empty() ? bias : form.add("score_bias", "Add", {bias, wanted.bias});
}

}  // namespace fusescope::plain
