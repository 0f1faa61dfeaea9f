// Activations, alone and with what comes before them.
#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {
namespace {

std::vector<FileAttribute> byTanh() {
  return {attribute("approximate", std::string("tanh"))};
}

}  // namespace

Status gelu(Form& form) {
  form.finish("Gelu", {form.in(0)});
  return Done{};
}

/// Gelu(x + bias) by its approximation with tanh.
Status fastGelu(Form& form) {
  const std::string x = form.has(1) ? form.add("biased", "Add", {form.in(0), form.in(1)}) : form.in(0);
  form.finish("Gelu", {x}, byTanh());
  return Done{};
}

/// Gelu(a + b)
Status biasGelu(Form& form) {
  form.finish("Gelu", {form.add("biased", "Add", {form.in(0), form.in(1)})});
  return Done{};
}

/// x · sigmoid(alpha · x)
Status quickGelu(Form& form) {
  form.finish("Swish", {form.in(0)}, {attribute("alpha", form.floatOf("alpha", 1.702F))});
  return Done{};
}

/// x + bias + skip
Status biasAdd(Form& form) {
  form.finish("Add", {form.add("biased", "Add", {form.in(0), form.in(1)}), form.in(2)});
  return Done{};
}

/// left · Gelu(right), the halves of x + bias along the last axis.
Status biasSplitGelu(Form& form) {
  const std::string biased = form.add("biased", "Add", {form.in(0), form.in(1)});
  const auto halves = form.addMany("halves", "Split", {biased}, {"left", "right"},
                                   {attribute("axis", std::int64_t{-1}), attribute("num_outputs", std::int64_t{2})});
  form.finish("Mul", {halves[0], form.add("gate", "Gelu", {halves[1]})});
  return Done{};
}

/// Gelu(x · w + bias) by tanh.
Status gemmFastGelu(Form& form) {
  std::string x = form.add("product", "MatMul", {form.in(0), form.in(1)});
  if (form.has(2)) x = form.add("biased", "Add", {x, form.in(2)});
  form.finish("Gelu", {x}, byTanh());
  return Done{};
}

}  // namespace fusescope::plain
