// Norms with what comes before them.
#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {
namespace {

constexpr float kSkipEpsilon = 1e-12F;  // the default of norms with additions before them

std::vector<FileAttribute> lastAxis(const Form& form) {
  return {attribute("axis", std::int64_t{-1}), attribute("epsilon", form.floatOf("epsilon", kSkipEpsilon))};
}

/// Adds all of `terms` from left to right; the last sum is output `output` of the file's node.
std::string sumOf(Form& form, const std::vector<std::string>& terms, std::size_t output) {
  std::string sum = terms.front();
  for (std::size_t i = 1; i < terms.size(); ++i) {
    const std::string what = i + 1 == terms.size() ? "sum" : "partial_sum";
    if (i + 1 == terms.size() && form.wants(output)) {
      form.give(output, what, "Add", {sum, terms[i]});
      return form.node().outputs[output];
    }
    sum = form.add(what, "Add", {sum, terms[i]});
  }
  return sum;
}

/// Returns x + skip + bias, as far as they are given; it is also output 3.
std::string skipSum(Form& form, std::size_t bias) {
  std::vector<std::string> terms{form.in(0), form.in(1)};
  if (form.has(bias)) terms.push_back(form.in(bias));
  return sumOf(form, terms, 3);
}

/// Writes output 1: the number of ones in each row of the mask, or zeros if there is no mask.
void giveMaskIndex(Form& form, std::size_t mask) {
  if (!form.wants(1)) return;
  const std::vector<FileAttribute> flat{attribute("keepdims", std::int64_t{0})};
  const std::string rows = form.ints("row_axis", {1});
  if (form.has(mask)) {
    form.give(1, "mask_index", "ReduceSum", {form.in(mask), rows}, flat);
    return;
  }
  const std::string none = form.add("no_mask", "Sub", {form.in(0), form.in(0)});
  form.give(1, "mask_index", "ReduceSum", {none, rows}, flat);
}

struct EmbeddingTables {
  std::string words, positions, segments, gamma, beta;
};

/// Adds LayerNormalization of the sum of table rows: words by id, positions by id or in order, and segments.
void finishEmbedding(Form& form, const EmbeddingTables& tables, std::size_t positionIds) {
  const std::string ids = form.in(0);
  std::vector<std::string> terms{form.add("words", "Gather", {tables.words, ids})};
  if (form.has(positionIds)) {
    terms.push_back(form.add("positions", "Gather", {tables.positions, form.in(positionIds)}));
  } else {
    const std::string zero = form.ints("zero", {0});
    terms.push_back(
        form.add("positions", "Slice", {tables.positions, zero, form.extentVector("length", ids, 1), zero}));
  }
  if (!tables.segments.empty()) terms.push_back(form.add("segments", "Gather", {tables.segments, form.in(1)}));
  const std::string sum = sumOf(form, terms, 2);
  form.finish("LayerNormalization", {sum, tables.gamma, tables.beta}, lastAxis(form));
}

}  // namespace

Status rmsNorm(Form& form) {
  form.finish("RMSNormalization", {form.in(0), form.in(1)}, form.attributes({"axis", "epsilon", "stash_type"}));
  return Done{};
}

/// LayerNormalization(x + skip + bias); its outputs 1 and 2 are the norm's own.
Status skipLayerNorm(Form& form) {
  std::vector<std::string> outputs{form.wants(0) ? form.node().outputs[0] : form.name("result")};
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    outputs.push_back(form.wants(i) ? form.node().outputs[i] : std::string());
  const std::string sum = skipSum(form, 4);
  form.finish("LayerNormalization", {sum, form.in(2), form.in(3)}, lastAxis(form), std::move(outputs));
  return Done{};
}

/// RMSNormalization(x + skip + bias)
Status skipRmsNorm(Form& form) {
  if (form.wants(1) || form.wants(2))
    return form.problem("its mean and deviation are for training", "Export the network for inference.");
  const std::string sum = skipSum(form, 3);
  form.finish("RMSNormalization", {sum, form.in(2)}, lastAxis(form));
  return Done{};
}

Status embedLayerNorm(Form& form) {
  if (form.has(1) != form.has(4)) return form.problem("needs segment ids and their table together");
  giveMaskIndex(form, 7);
  finishEmbedding(form, {form.in(2), form.in(3), form.in(4), form.in(5), form.in(6)}, 8);
  return Done{};
}

/// The same with tables, gamma and beta of 8 bits: values are in slots 2 to 6, scales in 8 to 12, zero points in 13 to
/// 17.
Status quantizedEmbedLayerNorm(Form& form) {
  if (form.has(1) != form.has(4)) return form.problem("needs segment ids and their table together");
  const auto wide = [&](const char* what, std::size_t i) {
    return form.has(i) ? form.add(what, "DequantizeLinear", {form.in(i), form.in(i + 6), form.in(i + 11)})
                       : std::string();
  };
  giveMaskIndex(form, 7);
  const std::size_t none = form.node().inputs.size();
  finishEmbedding(form,
                  {wide("words_table", 2), wide("positions_table", 3), wide("segments_table", 4), wide("gamma", 5),
                   wide("beta", 6)},
                  none);
  return Done{};
}

/// GroupNormalization of x or of x + skip + bias, then Swish if activation is 1. Channels are last unless an attribute
/// states otherwise. A skip of [N, C] is added at all positions.
Status groupNorm(Form& form) {
  const bool last = form.intOf("channels_last", 1) != 0;
  const std::size_t rank = TRY(form.rankNeeded(form.in(0)));
  std::string x = form.in(0);
  if (form.has(3)) {
    std::string skip = form.in(3);
    if (TRY(form.rankNeeded(skip)) == 2 && rank > 2) {
      Ints between(rank - 2);
      for (std::size_t i = 0; i < between.size(); ++i) between[i] = static_cast<std::int64_t>(i + (last ? 1 : 2));
      skip = form.add("skip", "Unsqueeze", {skip, form.ints("places", between)});
    }
    std::vector<std::string> terms{x, skip};
    if (form.has(4)) terms.push_back(form.in(4));
    x = sumOf(form, terms, 1);
  }
  const std::int64_t activation = form.intOf("activation", 0);
  if (activation != 0 && activation != 1) return form.problem("its activation is not 0 or 1");
  if (last) x = moveChannels(form, "channels_second", x, rank, Channels::ToSecond);
  std::vector<FileAttribute> attributes{attribute("num_groups", form.intOf("groups", 1)),
                                        attribute("epsilon", form.floatOf("epsilon", 1e-5F))};
  if (!last && activation == 0) {
    form.finish("GroupNormalization", {x, form.in(1), form.in(2)}, std::move(attributes));
    return Done{};
  }
  x = form.add("norm", "GroupNormalization", {x, form.in(1), form.in(2)}, std::move(attributes));
  if (activation == 1 && !last) {
    form.finish("Swish", {x});
    return Done{};
  }
  if (activation == 1) x = form.add("activation", "Swish", {x});
  form.finish("Transpose", {x}, {attribute("perm", channelOrder(rank, Channels::ToLast))});
  return Done{};
}

}  // namespace fusescope::plain
