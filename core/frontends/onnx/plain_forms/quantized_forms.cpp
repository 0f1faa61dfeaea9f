// Operators on 8 bits: DequantizeLinear of the operands, the operator, QuantizeLinear of the result.
#include "frontends/onnx/plain_forms/forms_by_family.h"
#include "frontends/onnx/plain_forms/quantized_support.h"

namespace fusescope::plain {

std::string wide(Form& form, const std::string& what, std::size_t codes, std::vector<FileAttribute> attributes) {
  return form.add(what, "DequantizeLinear", {form.in(codes), form.in(codes + 1), form.in(codes + 2)},
                  std::move(attributes));
}

Status finishNarrow(Form& form, const std::string& y, std::size_t scale, const std::string& like) {
  std::vector<FileAttribute> attributes;
  if (!form.has(scale + 1)) {
    // Without a zero point, the type is that of the operand.
    const onnxlib::FileType* type = form.type(like);
    if (type == nullptr || type->dtype == DataType::Undefined)
      return form.problem("has no zero point for its output, and the type of '" + like + "' is not known");
    if (type->dtype != DataType::U8 && type->dtype != DataType::I8)
      return form.problem("'" + like + "' is neither int8 nor uint8");
    attributes.push_back(attribute("output_dtype", type->dtype == DataType::U8 ? kUInt8 : kInt8));
  }
  form.finish("QuantizeLinear", {y, form.in(scale), form.in(scale + 1)}, std::move(attributes));
  return Done{};
}

/// c = a ∘ b
Status quantizedBinary(Form& form) {
  const std::string op = form.node().op == "QLinearAdd" ? "Add" : "Mul";
  return finishNarrow(form, form.add("result", op, {wide(form, "a", 0), wide(form, "b", 3)}), 6, form.in(0));
}

Status quantizedUnary(Form& form) {
  const std::string op = form.node().op == "QLinearSigmoid" ? "Sigmoid" : "LeakyRelu";
  return finishNarrow(form, form.add("result", op, {wide(form, "x", 0)}, form.attributes({"alpha"})), 3, form.in(0));
}

/// Softmax of ai.onnx's version `opset`; before 13, it is over all axes from `axis` on.
Status quantizedSoftmax(Form& form) {
  const std::string x = wide(form, "x", 0);
  const std::int64_t axis = form.intOf("axis", -1);
  if (form.intOf("opset", 13) >= 13)
    return finishNarrow(form, form.add("result", "Softmax", {x}, {attribute("axis", axis)}), 3, form.in(0));
  const std::string shape = form.add("shape", "Shape", {x});
  const std::string matrix = form.add("matrix", "Flatten", {x}, {attribute("axis", axis)});
  const std::string rows = form.add("rows", "Softmax", {matrix}, {attribute("axis", std::int64_t{-1})});
  return finishNarrow(form, form.add("result", "Reshape", {rows, shape}), 3, form.in(0));
}

/// AveragePool or GlobalAveragePool, with channels last if an attribute states this.
Status quantizedPool(Form& form) {
  const bool global = form.node().op == "QLinearGlobalAveragePool", last = form.intOf("channels_last", 0) != 0;
  const std::size_t rank = last ? TRY(form.rankNeeded(form.in(0))) : 0;
  std::string x = wide(form, "x", 0);
  if (last) x = moveChannels(form, "channels_second", x, rank, Channels::ToSecond);
  x = form.add("pool", global ? "GlobalAveragePool" : "AveragePool", {x},
               form.attributes({"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}));
  if (last) x = moveChannels(form, "channels_last", x, rank, Channels::ToLast);
  return finishNarrow(form, x, 3, form.in(0));
}

Status quantizedReduceMean(Form& form) {
  const Ints axes = form.intsOf("axes");
  std::vector<std::string> inputs{wide(form, "x", 0)};
  if (!axes.empty()) inputs.push_back(form.ints("axes", axes));
  return finishNarrow(form, form.add("mean", "ReduceMean", std::move(inputs), form.attributes({"keepdims"})), 3,
                      form.in(0));
}

/// The inputs are scale and zero point of y, then each part with its own scale and zero point.
Status quantizedConcat(Form& form) {
  std::vector<std::string> parts;
  for (std::size_t i = 2; i < form.node().inputs.size(); i += 3) {
    if (!form.has(i) || !form.has(i + 1)) return form.problem("input " + std::to_string(i) + " lacks its scale");
    parts.push_back(wide(form, "part", i));
  }
  return finishNarrow(form, form.add("joined", "Concat", std::move(parts), form.attributes({"axis"})), 0, form.in(2));
}

Status quantizedWhere(Form& form) {
  const std::string chosen = form.add("chosen", "Where", {form.in(0), wide(form, "x", 1), wide(form, "y", 4)});
  return finishNarrow(form, chosen, 7, form.in(1));
}

}  // namespace fusescope::plain
