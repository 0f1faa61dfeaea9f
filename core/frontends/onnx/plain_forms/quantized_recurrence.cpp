// Recurrence with weights of 8 bits.
#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {
namespace {

/// Weights, [directions, inputs, gates], with a scale and a zero point for each direction, or for each gate of it, as
/// floats of [directions, gates, inputs].
Result<std::string> wideGates(Form& form, const std::string& what, std::size_t codes, std::size_t scale) {
  const auto spread = [&](const std::string& part, const std::string& value, std::size_t rank) {
    return form.add(part, "Unsqueeze", {value, form.ints(part + "_axes", rank == 1 ? Ints{1, 2} : Ints{1})});
  };
  const std::string floats = form.add(what + "_floats", "Cast", {form.in(codes)}, {attribute("to", kFloat)});
  const std::string zeros = form.add(what + "_zeros", "Cast", {form.in(scale + 1)}, {attribute("to", kFloat)});
  const std::size_t rank = TRY(form.rankNeeded(form.in(scale))), zeroRank = TRY(form.rankNeeded(form.in(scale + 1)));
  const std::string centred = form.add(what + "_centred", "Sub", {floats, spread(what + "_zero", zeros, zeroRank)});
  const std::string scaled =
      form.add(what + "_scaled", "Mul", {centred, spread(what + "_scale", form.in(scale), rank)});
  return form.add(what, "Transpose", {scaled}, {attribute("perm", Ints{0, 2, 1})});
}

}  // namespace

/// LSTM of x, quantised by its own range, with the weights that the integers stand for. ONNX Runtime also quantises the
/// hidden state before each step, of those sequences that one of its threads works on; here it stays as it is.
Status dynamicQuantizeLstm(Form& form) {
  const auto x =
      form.addMany("quantize", "DynamicQuantizeLinear", {form.in(0)}, {"x_codes", "x_scale", "x_zero_point"});
  const std::string data = form.add("x", "DequantizeLinear", {x[0], x[1], x[2]});
  const std::string weights = TRY(wideGates(form, "weights", 1, 8));
  const std::string recurrence = TRY(wideGates(form, "recurrence", 2, 10));
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < 3; ++i) outputs.push_back(form.wants(i) ? form.node().outputs[i] : std::string());
  form.finish("LSTM", {data, weights, recurrence, form.in(3), form.in(4), form.in(5), form.in(6), form.in(7)},
              form.node().attributes, std::move(outputs));
  return Done{};
}

}  // namespace fusescope::plain
