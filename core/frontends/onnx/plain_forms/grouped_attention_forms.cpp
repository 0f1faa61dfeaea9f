// Attention in which several query heads share a key head, with a cache of keys and values, and rotary embedding.
#include <cmath>

#include "frontends/onnx/plain_forms/attention_support.h"
#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {
namespace {

const Ints kSwapHeads{0, 2, 1, 3};

/// The positions of the queries in their sequences, and the lengths of the sequences including them.
struct Places {
  std::string starts;   ///< [batch], place of each sequence's first query
  std::string queries;  ///< [batch, queries]
  std::string counts;   ///< [batch], keys that count
  std::string length;   ///< how many queries, as a vector of one
};

struct Caches {
  std::string keys, values;
};

Status checkSupported(const Form& form) {
  const auto refuse = [&](const std::string& what) {
    return form.problem(what + " are not supported", "Write the file without them.");
  };
  if (form.intOf("smooth_softmax", 0) > 0) return refuse("sinks of the softmax (smooth_softmax)");
  if (form.has(11)) return refuse("sinks of the softmax (head_sink)");
  if (form.intOf("qk_output", 0) != 0) return refuse("scores as an output (qk_output)");
  if (form.intOf("sliding_window_cache", 0) != 0) return refuse("caches that slide (sliding_window_cache)");
  for (const char* key : {"k_quant_type", "v_quant_type"})
    if (form.textOf(key, "NONE") != "NONE") return refuse("quantised caches (" + std::string(key) + ")");
  if (form.has(3) != form.has(4)) return form.problem("needs past keys and values together");
  if (form.has(1) != form.has(2)) return form.problem("needs key and value together");
  return Done{};
}

/// Returns query, key and value as [batch, sequence, heads * depth]; without key and value inputs, the query contains
/// all three.
Result<std::vector<std::string>> givenHeads(Form& form, std::int64_t heads, std::int64_t keyHeads) {
  if (form.has(1)) return std::vector<std::string>{form.in(0), form.in(1), form.in(2)};
  const auto width = form.extent(form.in(0), 2);
  if (!width || *width % (heads + 2 * keyHeads) != 0)
    return form.problem(
        "contains query, key and value in one input, whose last extent must be known and divisible by its heads");
  const std::int64_t depth = *width / (heads + 2 * keyHeads);
  return form.addMany("parts", "Split",
                      {form.in(0), form.ints("part_sizes", {heads * depth, keyHeads * depth, keyHeads * depth})},
                      {"query", "key", "value"}, {attribute("axis", std::int64_t{2})});
}

/// A first prompt starts at 0, even if it is padded; later queries are the last positions of their sequence.
Places placesOf(Form& form) {
  Places places;
  places.length = form.extentVector("length", form.in(0), 1);
  const std::string last = form.add("last_place", "Cast", {form.in(5)}, {attribute("to", kInt64)});
  const std::string flat = form.ints("flat", {-1}), one = form.ints("one", {1}), zero = form.ints("zero", {0});
  places.counts = form.add("counts", "Add", {form.add("last_places", "Reshape", {last, flat}), one});
  const std::string starts = form.add("unbounded_starts", "Sub", {places.counts, places.length});
  places.starts = form.add("starts", "Max", {starts, zero});
  const std::string column = form.add("start_column", "Unsqueeze", {places.starts, one});
  places.queries = form.add("places", "Add", {column, countingTo(form, "own_places", places.length)});
  return places;
}

std::string withHeads(Form& form, const std::string& what, const std::string& x, std::int64_t heads) {
  const std::string apart = form.add(what + "_apart", "Reshape", {x, form.ints(what + "_extents", {0, 0, heads, -1})});
  return form.add(what, "Transpose", {apart}, {attribute("perm", kSwapHeads)});
}

/// Writes `fresh` into the cache of input `past` at the positions of the queries, extended to all keys. It is output
/// `output`.
std::string cached(Form& form, const std::string& what, const std::string& fresh, std::size_t past, std::size_t output,
                   const Places& places) {
  if (!form.has(past)) {
    form.give(output, what + "_present", "Identity", {fresh});
    return fresh;
  }
  const std::string flat = form.ints("one_extent", {1}), zero = form.ints("no_room", {0});
  const std::string total = form.add(what + "_total", "Cast", {form.in(6)}, {attribute("to", kInt64)});
  const std::string keys = form.add(what + "_keys", "Reshape", {total, flat});
  const std::string had = form.extentVector(what + "_had", form.in(past), 2);
  const std::string lacking = form.add(what + "_lacking", "Sub", {keys, had});
  const std::string room = form.add(what + "_room", "Max", {lacking, zero});
  const std::string amounts =
      form.add(what + "_amounts", "Concat", {form.ints(what + "_before", {0, 0, 0, 0, 0, 0}), room, zero},
               {attribute("axis", std::int64_t{0})});
  const std::string wide = form.add(what + "_wide", "Pad", {form.in(past), amounts});
  const std::vector<FileAttribute> sequence{attribute("axis", std::int64_t{-2})};
  if (!form.wants(output)) return form.add(what + "_present", "TensorScatter", {wide, fresh, places.starts}, sequence);
  form.give(output, what + "_present", "TensorScatter", {wide, fresh, places.starts}, sequence);
  return form.node().outputs[output];
}

/// Returns [batch, 1, queries, keys]: which keys a query may see because of its position.
std::string seenKeys(Form& form, const Places& places, const std::string& keyCount) {
  const std::string keys = countingTo(form, "key_places", keyCount);
  const std::string column = form.ints("places_axes", {2}), headAxis = form.ints("head_axis", {1});
  const std::string queries = form.add("query_places", "Unsqueeze", {places.queries, column});
  const std::string counts = form.add("counts_cube", "Reshape", {places.counts, form.ints("cube", {-1, 1, 1})});
  std::string seen = form.add("counted", "Less", {keys, counts});
  if (form.intOf("causal", 1) != 0)
    seen = form.add("not_later_counted", "And", {seen, form.add("not_later", "LessOrEqual", {keys, queries})});
  if (const std::int64_t window = form.intOf("local_window_size", -1); window > 0) {
    const std::string edge = form.add("window_edge", "Sub", {queries, form.scalar("window", window)});
    seen = form.add("in_window", "And", {seen, form.add("not_earlier", "Greater", {keys, edge})});
  }
  return form.add("seen", "Unsqueeze", {seen, headAxis});
}

/// Returns the mask for Attention: which keys are visible, or the bias of input 10 with minus infinity for the others.
std::string maskOf(Form& form, const Places& places, const std::string& keys) {
  if (!form.has(10)) return seenKeys(form, places, form.extentVector("key_count", keys, 2));
  const std::string seen = seenKeys(form, places, form.extentVector("bias_keys", form.in(10), 3));
  const std::string hidden = form.numberLike("hidden", -INFINITY, form.in(0));
  return form.add("seen_bias", "Where", {seen, form.in(10), hidden});
}

/// Returns the attributes of ONNX's RotaryEmbedding for `heads` adjacent heads.
std::vector<FileAttribute> rotaryAttributes(std::int64_t heads, std::int64_t rotated, bool interleaved) {
  std::vector<FileAttribute> attributes{attribute("interleaved", std::int64_t{interleaved ? 1 : 0}),
                                        attribute("rotary_embedding_dim", rotated)};
  if (heads > 0) attributes.push_back(attribute("num_heads", heads));
  return attributes;
}

}  // namespace

/// present = the cache with the new keys and values at their positions; y = softmax(q · presentKᵀ · scale where
/// visible) · presentV. Queries and keys are rotated first if do_rotary is set.
Status groupQueryAttention(Form& form) {
  TRY(checkSupported(form));
  const std::int64_t heads = form.intOf("num_heads", 0), keyHeads = form.intOf("kv_num_heads", 0);
  if (heads < 1 || keyHeads < 1) return form.problem("needs num_heads and kv_num_heads");
  auto given = TRY(givenHeads(form, heads, keyHeads));
  const Places places = placesOf(form);
  if (form.intOf("do_rotary", 0) != 0) {
    if (!form.has(7) || !form.has(8)) return form.problem("needs cosines and sines to rotate by");
    const auto half = form.extent(form.in(7), 1);
    if (!half) return form.problem("the extents of its cosines must be known");
    const std::string where = form.has(9) ? form.in(9) : places.queries;
    const bool interleaved = form.intOf("rotary_interleaved", 0) != 0;
    given[0] = form.add("query_rotated", "RotaryEmbedding", {given[0], form.in(7), form.in(8), where},
                        rotaryAttributes(heads, 2 * *half, interleaved));
    given[1] = form.add("key_rotated", "RotaryEmbedding", {given[1], form.in(7), form.in(8), where},
                        rotaryAttributes(keyHeads, 2 * *half, interleaved));
  }
  const std::string query = withHeads(form, "query_heads", given[0], heads);
  const std::string keys = cached(form, "key", withHeads(form, "key_heads", given[1], keyHeads), 3, 1, places);
  const std::string values = cached(form, "value", withHeads(form, "value_heads", given[2], keyHeads), 4, 2, places);
  std::vector<FileAttribute> attributes;
  if (const float scale = form.floatOf("scale", 0); scale != 0) attributes.push_back(attribute("scale", scale));
  if (const float cap = form.floatOf("softcap", 0); cap != 0) attributes.push_back(attribute("softcap", cap));
  const std::string result =
      form.add("attention", "Attention", {query, keys, values, maskOf(form, places, keys)}, std::move(attributes));
  const std::string turned = form.add("result_turned", "Transpose", {result}, {attribute("perm", kSwapHeads)});
  form.finish("Reshape", {turned, form.ints("result_extents", {0, 0, -1})});
  return Done{};
}

/// RotaryEmbedding of ai.onnx needs a position for each element of each sequence. A single number is the position of
/// the first element.
Status rotaryEmbedding(Form& form) {
  if (form.intOf("is_packed_batching", 0) != 0)
    return form.problem("batches of sequences of several lengths (is_packed_batching) are not supported");
  const std::size_t rank = TRY(form.rankNeeded(form.in(0)));
  const auto half = form.extent(form.in(2), 1);
  if (!half) return form.problem("the extents of its cosines must be known");
  std::int64_t heads = rank == 3 ? form.intOf("num_heads", 0) : 0;
  if (rank == 3 && heads == 0) {
    const auto width = form.extent(form.in(0), 2);
    if (!width || *half == 0) return form.problem("without num_heads, the last extent of its input must be known");
    heads = *width / (2 * *half);
  }
  std::string places = form.in(1);
  if (TRY(form.rankNeeded(places)) == 1) {
    const std::string length = form.extentVector("length", form.in(0), rank == 3 ? 1 : 2);
    const std::string batch = form.extentVector("batch", form.in(0), 0);
    const std::string row = form.add("row", "Add", {places, countingTo(form, "counted", length)});
    const std::string extents = form.add("extents", "Concat", {batch, length}, {attribute("axis", std::int64_t{0})});
    places = form.add("places", "Expand", {row, extents});
  }
  form.finish("RotaryEmbedding", {form.in(0), form.in(2), form.in(3), places},
              rotaryAttributes(heads, 2 * *half, form.intOf("interleaved", 0) != 0));
  return Done{};
}

}  // namespace fusescope::plain
