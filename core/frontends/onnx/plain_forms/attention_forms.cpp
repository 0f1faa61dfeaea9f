// Attention of as many key heads as query heads.
#include "frontends/onnx/plain_forms/attention_support.h"
#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {
namespace {

/// Query, key and value as [batch, sequence, heads * depth], and everything else that the scores depend on.
struct Heads {
  std::string query, key, value, bias, pastKey, pastValue;
};

/// Attention's attributes, as com.microsoft gives them.
std::vector<FileAttribute> headAttributes(const Form& form) {
  const std::int64_t heads = form.intOf("num_heads", 1);
  std::vector<FileAttribute> attributes{attribute("q_num_heads", heads), attribute("kv_num_heads", heads)};
  if (const float scale = form.floatOf("scale", 0); scale != 0) attributes.push_back(attribute("scale", scale));
  if (form.intOf("unidirectional", 0) != 0) attributes.push_back(attribute("is_causal", std::int64_t{1}));
  return attributes;
}

std::vector<std::string> parts(Form& form, const std::string& what, const std::string& joined, const Ints& sizes) {
  std::vector<std::string> inputs{joined};
  std::vector<FileAttribute> attributes{attribute("axis", std::int64_t{-1})};
  if (sizes.empty())
    attributes.push_back(attribute("num_outputs", std::int64_t{3}));
  else
    inputs.push_back(form.ints(what + "_sizes", sizes));
  return form.addMany(what, "Split", std::move(inputs), {what + "_query", what + "_key", what + "_value"},
                      std::move(attributes));
}

std::string sumOfExtents(Form& form, const std::string& what, const std::string& a, const std::string& b) {
  return b.empty() ? a : form.add(what, "Add", {a, b});
}

/// Finishes self attention. `joined` contains query, key and value side by side, with the rows of input 0 of the file's
/// node. `like` is a value of the file with the type of the scores. `past` is [2, batch, heads, keys, depth];
/// `present`, output 1, is `past` followed by the new keys and values.
Status finishSelfAttention(Form& form, const std::string& joined, const std::string& mask, const std::string& past,
                           const std::string& bias, const std::string& like) {
  if (form.intOf("do_rotary", 0) != 0)
    return form.problem("rotating within Attention (do_rotary) is not supported",
                        "Write the file with RotaryEmbedding as an operator of its own.");
  if (form.intOf("past_present_share_buffer", 0) != 0)
    return form.problem("keys and values that share a buffer (past_present_share_buffer) are not supported",
                        "Write the file without sharing them.");
  const auto heads = parts(form, "projected", joined, form.intsOf("qkv_hidden_sizes"));
  const std::string length = form.extentVector("length", form.in(0), 1);
  std::string pastKey, pastValue, before;
  if (!past.empty()) {
    pastKey = form.add("past_key", "Gather", {past, form.scalar("key_index", 0)}, {attribute("axis", std::int64_t{0})});
    pastValue =
        form.add("past_value", "Gather", {past, form.scalar("value_index", 1)}, {attribute("axis", std::int64_t{0})});
    before = form.extentVector("past_length", past, 3);
  }
  const std::string scores = TRY(addScoreBias(form, {.mask = mask,
                                                     .bias = bias,
                                                     .query = form.in(0),
                                                     .like = like,
                                                     .keys = sumOfExtents(form, "keys", length, before),
                                                     .hidden = form.floatOf("mask_filter_value", -10000.0F)}));
  std::vector<std::string> outputs{form.wants(0) ? form.node().outputs[0] : form.name("result")};
  if (form.wants(1)) outputs.insert(outputs.end(), {form.name("present_key"), form.name("present_value")});
  form.finish("Attention", {heads[0], heads[1], heads[2], scores, pastKey, pastValue}, headAttributes(form), outputs);
  if (!form.wants(1)) return Done{};
  const std::string front = form.ints("front", {0});
  form.give(1, "present", "Concat",
            {form.add("present_keys", "Unsqueeze", {outputs[1], front}),
             form.add("present_values", "Unsqueeze", {outputs[2], front})},
            {attribute("axis", std::int64_t{0})});
  return Done{};
}

/// Converts [batch, heads, sequence, depth] to [batch, sequence, heads * depth]; a value with three axes is unchanged.
Result<std::string> packed(Form& form, const std::string& what, const std::string& x) {
  if (TRY(form.rankNeeded(x)) != 4) return x;
  const std::string turned = form.add(what + "_turned", "Transpose", {x}, {attribute("perm", Ints{0, 2, 1, 3})});
  return form.add(what, "Reshape", {turned, form.ints(what + "_extents", {0, 0, -1})});
}

/// Returns member `index` of `x`, [batch, sequence, heads, members, depth], as [batch, sequence, heads * depth].
std::string member(Form& form, const std::string& what, const std::string& x, std::int64_t index) {
  const std::string one = form.add(what + "_heads", "Gather", {x, form.scalar(what + "_index", index)},
                                   {attribute("axis", std::int64_t{3})});
  return form.add(what, "Reshape", {one, form.ints(what + "_extents", {0, 0, -1})});
}

/// Returns query, key and value of MultiHeadAttention in all forms in which they may be packed.
Result<Heads> givenHeads(Form& form) {
  const std::string query = form.in(0);
  if (TRY(form.rankNeeded(query)) == 5)
    return Heads{member(form, "query", query, 0), member(form, "key", query, 1), member(form, "value", query, 2)};
  if (!form.has(1)) return form.problem("has neither a key nor a query with keys and values in it");
  if (!form.has(2)) return Heads{query, member(form, "key", form.in(1), 0), member(form, "value", form.in(1), 1)};
  const std::string key = TRY(packed(form, "key", form.in(1))), value = TRY(packed(form, "value", form.in(2)));
  return Heads{query, key, value};
}

/// Adds the parts of the projections' bias. Keys and values with four axes already include it.
Result<Heads> withProjectionBias(Form& form, Heads heads) {
  if (!form.has(3)) return heads;
  const std::string sizes =
      form.add("bias_sizes", "Concat",
               {form.extentVector("query_size", heads.query, 2), form.extentVector("key_size", heads.key, 2),
                form.extentVector("value_size", heads.value, 2)},
               {attribute("axis", std::int64_t{0})});
  const auto bias = form.addMany("bias", "Split", {form.in(3), sizes}, {"query_bias", "key_bias", "value_bias"},
                                 {attribute("axis", std::int64_t{0})});
  heads.query = form.add("query_biased", "Add", {heads.query, bias[0]});
  const bool ready = form.has(1) && form.rank(form.in(1)) == 4;
  if (ready) return heads;
  heads.key = form.add("key_biased", "Add", {heads.key, bias[1]});
  heads.value = form.add("value_biased", "Add", {heads.value, bias[2]});
  return heads;
}

}  // namespace

/// Attention of x · weights + bias, split into query, key and value.
Status attention(Form& form) {
  std::string joined = form.add("projection", "MatMul", {form.in(0), form.in(1)});
  if (form.has(2)) joined = form.add("projection_biased", "Add", {joined, form.in(2)});
  return finishSelfAttention(form, joined, form.in(3), form.in(4), form.in(5), form.in(0));
}

/// The same with x and weights of 8 bits.
Status quantizedAttention(Form& form) {
  const std::string x = form.add("x", "DequantizeLinear", {form.in(0), form.in(3), form.in(6)});
  const std::string weights = form.add("weights", "DequantizeLinear", {form.in(1), form.in(4), form.in(7)},
                                       {attribute("axis", std::int64_t{1})});
  const std::string product = form.add("projection", "MatMul", {x, weights});
  const std::string joined = form.add("projection_biased", "Add", {product, form.in(2)});
  return finishSelfAttention(form, joined, form.in(5), form.in(8), {}, form.in(2));
}

Status multiHeadAttention(Form& form) {
  const Heads heads = TRY(withProjectionBias(form, TRY(givenHeads(form))));
  const std::string before = form.has(6) ? form.extentVector("past_length", form.in(6), 2) : std::string();
  const std::string own = form.extentVector("own_keys", heads.key, 1);
  const std::string scores = TRY(addScoreBias(form, {.mask = form.in(4),
                                                     .bias = form.in(5),
                                                     .query = form.in(0),
                                                     .like = form.in(0),
                                                     .keys = sumOfExtents(form, "keys", own, before),
                                                     .hidden = form.floatOf("mask_filter_value", -10000.0F)}));
  std::vector<std::string> outputs{form.wants(0) ? form.node().outputs[0] : form.name("result")};
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    outputs.push_back(form.wants(i) ? form.node().outputs[i] : std::string());
  form.finish("Attention", {heads.query, heads.key, heads.value, scores, form.in(6), form.in(7)}, headAttributes(form),
              outputs);
  return Done{};
}

}  // namespace fusescope::plain
