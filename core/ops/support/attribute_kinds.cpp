#include <fmt/format.h>

#include <map>

#include "ops/support/infer_support.h"

namespace fusescope::ops {
namespace {

/// Indices of the alternatives of Attribute.
enum AttributeKind : std::size_t { Int, Float, Text, Ints_, Floats, Texts, Tensor_, Graph_ };
constexpr std::string_view kKindNames[] = {"an integer",       "a float",         "a text",   "a list of integers",
                                           "a list of floats", "a list of texts", "a tensor", "a graph"};

const std::map<std::string_view, AttributeKind>& attributeKinds() {
  static const std::map<std::string_view, AttributeKind> kKinds = {
      {"activation_alpha", Floats},
      {"activation_beta", Floats},
      {"activations", Texts},
      {"align_corners", Int},
      {"allowzero", Int},
      {"alpha", Float},
      {"antialias", Int},
      {"approximate", Text},
      {"auto_pad", Text},
      {"axes", Ints_},
      {"axis", Int},
      {"batch_axis", Int},
      {"batch_dims", Int},
      {"beta", Float},
      {"bias", Float},
      {"block_size", Int},
      {"blocksize", Int},
      {"body", Graph_},
      {"case_change_action", Text},
      {"ceil_mode", Int},
      {"center_point_box", Int},
      {"clip", Float},
      {"coordinate_transformation_mode", Text},
      {"count_include_pad", Int},
      {"cubic_coeff_a", Float},
      {"delimiter", Text},
      {"detect_negative", Int},
      {"detect_positive", Int},
      {"dilations", Ints_},
      {"direction", Text},
      {"dtype", Int},
      {"else_branch", Graph_},
      {"end", Int},
      {"epsilon", Float},
      {"equation", Text},
      {"exclude_outside", Int},
      {"exclusive", Int},
      {"extrapolation_value", Float},
      {"fmod", Int},
      {"gamma", Float},
      {"group", Int},
      {"hidden_size", Int},
      {"high", Float},
      {"ignore_index", Int},
      {"input_forget", Int},
      {"inverse", Int},
      {"is_case_sensitive", Int},
      {"is_causal", Int},
      {"k", Int},
      {"keep_aspect_ratio_policy", Text},
      {"keepdims", Int},
      {"kernel_shape", Ints_},
      {"kv_num_heads", Int},
      {"lambd", Float},
      {"largest", Int},
      {"layout", Int},
      {"linear_before_reset", Int},
      {"locale", Text},
      {"low", Float},
      {"max_gram_length", Int},
      {"max_skip_count", Int},
      {"maxsplit", Int},
      {"mean", Float},
      {"min_gram_length", Int},
      {"mode", Text},
      {"momentum", Float},
      {"nearest_mode", Text},
      {"new_axis", Int},
      {"ngram_counts", Ints_},
      {"ngram_indexes", Ints_},
      {"noop_with_empty_axes", Int},
      {"num_groups", Int},
      {"num_outputs", Int},
      {"num_scan_inputs", Int},
      {"offset_group", Int},
      {"onesided", Int},
      {"output_datatype", Int},
      {"output_dtype", Int},
      {"output_height", Int},
      {"output_padding", Ints_},
      {"output_shape", Ints_},
      {"output_width", Int},
      {"p", Int},
      {"padding_mode", Text},
      {"pads", Ints_},
      {"pattern", Text},
      {"periodic", Int},
      {"perm", Ints_},
      {"pixel_format", Text},
      {"pool_int64s", Ints_},
      {"pool_strings", Texts},
      {"pooled_shape", Ints_},
      {"precision", Int},
      {"q_num_heads", Int},
      {"reduction", Text},
      {"reverse", Int},
      {"round_mode", Text},
      {"sample_size", Int},
      {"sampling_ratio", Int},
      {"saturate", Int},
      {"scale", Float},
      {"scan_input_axes", Ints_},
      {"scan_input_directions", Ints_},
      {"scan_output_axes", Ints_},
      {"scan_output_directions", Ints_},
      {"select_last_index", Int},
      {"shape", Ints_},
      {"size", Int},
      {"softcap", Float},
      {"softmax_precision", Int},
      {"sorted", Int},
      {"spatial_scale", Float},
      {"start", Int},
      {"stash_type", Int},
      {"stopwords", Texts},
      {"storage_order", Int},
      {"strides", Ints_},
      {"then_branch", Graph_},
      {"time_axis", Int},
      {"to", Int},
      {"training_mode", Int},
      {"transA", Int},
      {"transB", Int},
      {"type", Text},
      {"upper", Int},
      {"value", Tensor_},
      {"weights", Floats},
  };
  return kKinds;
}

}  // namespace

Status checkAttributeKinds(const Node& node) {
  for (const auto& [key, attribute] : node.attributes) {
    const auto found = attributeKinds().find(key);
    if (found == attributeKinds().end() || attribute.index() == found->second) continue;
    return attributeProblem(
        key, fmt::format("is {}, expected {}", kKindNames[attribute.index()], kKindNames[found->second]));
  }
  return Done{};
}

}  // namespace fusescope::ops
