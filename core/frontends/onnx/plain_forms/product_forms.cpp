// Products and convolutions with what surrounds them.
#include <algorithm>

#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {
namespace {

/// Converts an operand of FusedMatMul to one of MatMul. If `batch` is set, its first axis is moved before the last axis
/// but one; if `transposed` is set, the last two are then exchanged.
Result<std::string> matMulOperand(Form& form, const std::string& what, const std::string& x, bool transposed,
                                  bool batch) {
  const auto rank = form.rank(x);
  if (!transposed && !batch) return x;
  if (!rank && !batch) return form.add(what, "Einsum", {x}, {attribute("equation", std::string("...ij->...ji"))});
  const std::size_t axes = TRY(form.rankNeeded(x));
  if (axes < 2) return x;
  Ints order;
  for (std::size_t i = 0; i < axes; ++i) order.push_back(static_cast<std::int64_t>(i));
  if (batch) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (transposed) std::swap(order[axes - 2], order[axes - 1]);
  return form.add(what, "Transpose", {x}, {attribute("perm", std::move(order))});
}

std::vector<float> activationNumbers(const Form& form) {
  std::vector<float> numbers;
  for (const char* key : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (form.node().attribute(key) != nullptr) numbers.push_back(form.floatOf(key, 0));
  return numbers;
}

std::vector<float> activationParameters(const Form& form) {
  const auto* given = adapting::attributeAs<std::vector<float>>(form.node(), "activation_params");
  return given == nullptr ? std::vector<float>() : *given;
}

std::vector<FileAttribute> convAttributes(const Form& form) {
  return form.attributes({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
}

}  // namespace

/// activation(alpha · A · B) with A and B transposed as the attributes say.
Status fusedMatMul(Form& form) {
  const std::string a = TRY(
      matMulOperand(form, "a_transposed", form.in(0), form.intOf("transA", 0) != 0, form.intOf("transBatchA", 0) != 0));
  const std::string b = TRY(
      matMulOperand(form, "b_transposed", form.in(1), form.intOf("transB", 0) != 0, form.intOf("transBatchB", 0) != 0));
  const float alpha = form.floatOf("alpha", 1.0F);
  const std::string activation = form.textOf("activation", "");
  if (alpha == 1.0F && activation.empty()) {
    form.finish("MatMul", {a, b});
    return Done{};
  }
  std::string product = form.add("product", "MatMul", {a, b});
  if (activation.empty()) {
    form.finish("Mul", {product, form.numberLike("alpha", alpha, form.in(0))});
    return Done{};
  }
  if (alpha != 1.0F) product = form.add("scaled", "Mul", {product, form.numberLike("alpha", alpha, form.in(0))});
  return finishActivated(form, activation, product, activationNumbers(form));
}

/// activation(Gemm(A, B, C))
Status fusedGemm(Form& form) {
  auto attributes = form.attributes({"alpha", "beta", "transA", "transB"});
  const std::string activation = form.textOf("activation", "");
  if (activation.empty()) {
    form.finish("Gemm", {form.in(0), form.in(1), form.in(2)}, std::move(attributes));
    return Done{};
  }
  const std::string product = form.add("product", "Gemm", {form.in(0), form.in(1), form.in(2)}, std::move(attributes));
  return finishActivated(form, activation, product, activationNumbers(form));
}

/// activation(Conv(x, w, b) + z)
Status fusedConv(Form& form) {
  const std::vector<std::string> operands{form.in(0), form.in(1), form.in(2)};
  const std::string activation = form.textOf("activation", "");
  if (!form.has(3) && activation.empty()) {
    form.finish("Conv", operands, convAttributes(form));
    return Done{};
  }
  std::string x = form.add("conv", "Conv", operands, convAttributes(form));
  if (activation.empty()) {
    form.finish("Add", {x, form.in(3)});
    return Done{};
  }
  if (form.has(3)) x = form.add("sum", "Add", {x, form.in(3)});
  return finishActivated(form, activation, x, activationParameters(form));
}

/// The same with channels last in data, z and result. The weights of NhwcConv have channels last too, as the tool that
/// writes it makes them (fusion_nhwc_conv.py), unless only Conv's own order fits; those of NhwcFusedConv are in Conv's
/// order.
Status channelsLastConv(Form& form) {
  const std::size_t rank = TRY(form.rankNeeded(form.in(0)));
  const auto channels = form.extent(form.in(0), -1), last = form.extent(form.in(1), -1);
  const bool fits = !channels || !last || *last * form.intOf("group", 1) == *channels;
  const std::string weights = form.node().op == "NhwcConv" && fits
                                  ? moveChannels(form, "weights", form.in(1), rank, Channels::ToSecond)
                                  : form.in(1);
  const std::string x = moveChannels(form, "channels_second", form.in(0), rank, Channels::ToSecond);
  std::string y = form.add("conv", "Conv", {x, weights, form.in(2)}, convAttributes(form));
  const std::string activation = form.textOf("activation", "");
  const FileAttribute back = attribute("perm", channelOrder(rank, Channels::ToLast));
  if (activation.empty() && !form.has(3)) {
    form.finish("Transpose", {y}, {back});
    return Done{};
  }
  y = form.add("channels_last", "Transpose", {y}, {back});
  if (activation.empty()) {
    form.finish("Add", {y, form.in(3)});
    return Done{};
  }
  if (form.has(3)) y = form.add("sum", "Add", {y, form.in(3)});
  return finishActivated(form, activation, y, activationParameters(form));
}

Status channelsLastMaxPool(Form& form) {
  const std::size_t rank = TRY(form.rankNeeded(form.in(0)));
  const std::string x = moveChannels(form, "channels_second", form.in(0), rank, Channels::ToSecond);
  const std::string y =
      form.add("pool", "MaxPool", {x},
               form.attributes({"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"}));
  form.finish("Transpose", {y}, {attribute("perm", channelOrder(rank, Channels::ToLast))});
  return Done{};
}

}  // namespace fusescope::plain
