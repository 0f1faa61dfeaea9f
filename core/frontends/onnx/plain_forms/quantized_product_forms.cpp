// Products of 8 bits.
#include "frontends/onnx/plain_forms/forms_by_family.h"
#include "frontends/onnx/plain_forms/quantized_support.h"

namespace fusescope::plain {
namespace {

/// Returns an int32 bias as a float. Its scale is the product of two scales, the second of which may be per channel.
std::string wideBias(Form& form, const std::string& codes, const std::string& scaleA, const std::string& scaleB,
                     std::int64_t axis) {
  const std::string steps = form.add("bias_scale", "Mul", {scaleA, scaleB});
  return form.add("bias", "DequantizeLinear", {codes, steps}, {attribute("axis", axis)});
}

/// Finishes a · b in float: the sums of the integers minus their zero points, times both scales, plus the bias.
void finishIntegerProduct(Form& form, const std::string& a, const std::string& scaleA, const std::string& zeroA,
                          const std::string& b, const std::string& scaleB, const std::string& zeroB,
                          const std::string& bias) {
  const std::string sums = form.add("sums", "MatMulInteger", {a, b, zeroA, zeroB});
  const std::string floats = form.add("floats", "Cast", {sums}, {attribute("to", kFloat)});
  const std::string scale = form.add("scale", "Mul", {scaleA, scaleB});
  if (bias.empty()) {
    form.finish("Mul", {floats, scale});
    return;
  }
  form.finish("Add", {form.add("product", "Mul", {floats, scale}), bias});
}

}  // namespace

/// QLinearConv, with channels last if an attribute states this: y = Q(Conv(DQ(x), DQ(w), DQ(b))).
Status quantizedConv(Form& form) {
  const bool last = form.intOf("channels_last", 0) != 0;
  const std::size_t rank = last ? TRY(form.rankNeeded(form.in(0))) : 0;
  std::string x = wide(form, "x", 0);
  if (last) x = moveChannels(form, "channels_second", x, rank, Channels::ToSecond);
  std::vector<std::string> operands{x, wide(form, "weights", 3, {attribute("axis", std::int64_t{0})})};
  if (form.has(8)) operands.push_back(wideBias(form, form.in(8), form.in(1), form.in(4), 0));
  std::string y = form.add("conv", "Conv", std::move(operands),
                           form.attributes({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  if (last) y = moveChannels(form, "channels_last", y, rank, Channels::ToLast);
  return finishNarrow(form, y, 6, form.in(0));
}

/// y = alpha · A · B + C, quantised if y has a scale.
Status quantizedGemm(Form& form) {
  const bool transposed = form.intOf("transB", 0) != 0;
  std::vector<std::string> operands{wide(form, "a", 0),
                                    wide(form, "b", 3, {attribute("axis", std::int64_t{transposed ? 0 : 1})})};
  if (form.has(6)) {
    // The scale of C is that of the product.
    const float alpha = form.floatOf("alpha", 1.0F);
    const std::string scaleA =
        alpha == 1.0F ? form.in(1)
                      : form.add("scaled_a", "Mul", {form.in(1), form.numberLike("alpha", alpha, form.in(1))});
    const std::size_t rank = TRY(form.rankNeeded(form.in(6)));
    operands.push_back(
        wideBias(form, form.in(6), scaleA, form.in(4), rank == 0 ? 0 : static_cast<std::int64_t>(rank) - 1));
  }
  auto attributes = form.attributes({"alpha", "transA", "transB"});
  if (!form.has(7)) {
    form.finish("Gemm", std::move(operands), std::move(attributes));
    return Done{};
  }
  return finishNarrow(form, form.add("product", "Gemm", std::move(operands), std::move(attributes)), 7, form.in(0));
}

/// a, quantised with its own range, · b + bias.
Status dynamicQuantizeMatMul(Form& form) {
  const auto a =
      form.addMany("quantize", "DynamicQuantizeLinear", {form.in(0)}, {"a_codes", "a_scale", "a_zero_point"});
  finishIntegerProduct(form, a[0], a[1], a[2], form.in(1), form.in(2), form.in(3), form.in(4));
  return Done{};
}

Status matMulIntegerToFloat(Form& form) {
  finishIntegerProduct(form, form.in(0), form.in(2), form.in(4), form.in(1), form.in(3), form.in(5), form.in(6));
  return Done{};
}

}  // namespace fusescope::plain
