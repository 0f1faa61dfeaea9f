// Recurrence with weights of 8 bits.
#include <memory>

#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {
namespace {

using onnxlib::FileGraph;

constexpr std::size_t kX = 0, kWeights = 1, kRecurrence = 2, kBias = 3, kLengths = 4, kHidden = 5, kCell = 6,
                      kPeepholes = 7, kWeightScale = 8, kRecurrenceScale = 10;

/// Weights, [directions, inputs, gates], with a scale and a zero point for each direction, or for each gate of it, as
/// floats.
Result<std::string> wideGates(Form& form, const std::string& what, std::size_t codes, std::size_t scale) {
  const auto spread = [&](const std::string& part, const std::string& value, std::size_t rank) {
    return form.add(part, "Unsqueeze", {value, form.ints(part + "_axes", rank == 1 ? Ints{1, 2} : Ints{1})});
  };
  const std::string floats = form.add(what + "_floats", "Cast", {form.in(codes)}, {attribute("to", kFloat)});
  const std::string zeros = form.add(what + "_zeros", "Cast", {form.in(scale + 1)}, {attribute("to", kFloat)});
  const std::size_t rank = TRY(form.rankNeeded(form.in(scale))), zeroRank = TRY(form.rankNeeded(form.in(scale + 1)));
  const std::string centred = form.add(what + "_centred", "Sub", {floats, spread(what + "_zero", zeros, zeroRank)});
  return form.add(what, "Mul", {centred, spread(what + "_scale", form.in(scale), rank)});
}

/// What of a node of one output is made in a body.
struct Body {
  FileGraph graph;
  AdaptContext& context;
  std::string base;

  std::string input(const std::string& what) {
    graph.inputs.push_back({context.freshValue(base + what), {}});
    return graph.inputs.back().name;
  }
  std::vector<std::string> add(const std::string& what, const std::string& op, std::vector<std::string> inputs,
                               std::size_t outputs = 1, std::vector<FileAttribute> attributes = {}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i) names.push_back(context.freshValue(base + what));
    graph.nodes.push_back({.name = base + what,
                           .op = op,
                           .domain = {},
                           .overload = {},
                           .inputs = std::move(inputs),
                           .outputs = names,
                           .attributes = std::move(attributes),
                           .newest = true});
    return names;
  }
  std::string one(const std::string& what, const std::string& op, std::vector<std::string> inputs) {
    return add(what, op, std::move(inputs)).front();
  }
  void output(const std::string& value) { graph.outputs.push_back({value, {}}); }
};

/// One step: hidden and cell state and what x gives to the gates, in; both states and the hidden one again, out.
///   i, o, f, g = gates + DQ(Q(hidden)) · recurrence;  cell' = σ(f) cell + σ(i) tanh(g);  hidden' = σ(o) tanh(cell')
std::shared_ptr<const FileGraph> stepOf(Form& form, const std::string& recurrence) {
  Body body{{}, form.context(), form.node().displayName() + "/step/"};
  body.graph.name = form.node().displayName() + "/step";
  const std::string hidden = body.input("hidden"), cell = body.input("cell"), gates = body.input("gates");
  const auto codes = body.add("quantize", "DynamicQuantizeLinear", {hidden}, 3);
  const std::string rounded = body.one("rounded", "DequantizeLinear", codes);
  const std::string sum = body.one("sum", "Add", {gates, body.one("product", "MatMul", {rounded, recurrence})});
  const auto parts = body.add("parts", "Split", {sum}, 4,
                              {attribute("axis", std::int64_t{-1}), attribute("num_outputs", std::int64_t{4})});
  const std::string in = body.one("in", "Sigmoid", {parts[0]}), out = body.one("out", "Sigmoid", {parts[1]}),
                    forget = body.one("forget", "Sigmoid", {parts[2]}), fresh = body.one("fresh", "Tanh", {parts[3]});
  const std::string kept = body.one("kept", "Mul", {forget, cell}), taken = body.one("taken", "Mul", {in, fresh});
  const std::string next = body.one("next_cell", "Add", {kept, taken});
  const std::string shown = body.one("next_hidden", "Mul", {out, body.one("bounded", "Tanh", {next})});
  body.output(shown);
  body.output(next);
  body.output(body.one("result", "Identity", {shown}));
  return std::make_shared<const FileGraph>(std::move(body.graph));
}

class QuantizedLstm {
 public:
  QuantizedLstm(Form& form, std::string x, std::string weights, std::string recurrence)
      : m_form(form), m_x(std::move(x)), m_weights(std::move(weights)), m_recurrence(std::move(recurrence)) {}

  void finish() {
    const std::string direction = m_form.textOf("direction", "forward");
    if (direction != "reverse") scan(0, false);
    if (direction != "forward") scan(direction == "reverse" ? 0 : 1, true);
    give(0, "all", m_results, 1);
    give(1, "hidden", m_hidden, 0);
    give(2, "cell", m_cell, 0);
  }

 private:
  std::string of(std::int64_t direction, const std::string& what, const std::string& value) {
    const std::string name = what + "_" + std::to_string(direction);
    return m_form.add(name, "Gather", {value, m_form.scalar(name + "_index", direction)},
                      {attribute("axis", std::int64_t{0})});
  }

  /// Input `slot`, [directions, batch, hidden], or zeros.
  std::string state(std::int64_t direction, const std::string& what, std::size_t slot) {
    if (m_form.has(slot)) return of(direction, what, m_form.in(slot));
    const std::string name = what + "_" + std::to_string(direction);
    const std::string extents = m_form.add(name + "_extents", "Concat",
                                           {m_form.extentVector(name + "_batch", m_form.in(kX), 1),
                                            m_form.ints(name + "_size", {m_form.intOf("hidden_size", 1)})},
                                           {attribute("axis", std::int64_t{0})});
    return m_form.add(name, "Expand", {m_form.numberLike(name + "_zero", 0.0F, m_form.in(kX)), extents});
  }

  void scan(std::int64_t direction, bool reverse) {
    const std::string suffix = "_" + std::to_string(direction);
    std::string gates = m_form.add("gates" + suffix, "MatMul", {m_x, of(direction, "weights", m_weights)});
    if (m_form.has(kBias)) {
      const auto halves = m_form.addMany(
          "biases" + suffix, "Split", {of(direction, "bias", m_form.in(kBias))}, {"bias_w" + suffix, "bias_r" + suffix},
          {attribute("axis", std::int64_t{0}), attribute("num_outputs", std::int64_t{2})});
      gates = m_form.add("biased" + suffix, "Add", {gates, m_form.add("bias_sum" + suffix, "Add", halves)});
    }
    const Ints order{reverse ? 1 : 0};
    const auto outputs = m_form.addMany(
        "scan" + suffix, "Scan", {state(direction, "hidden", kHidden), state(direction, "cell", kCell), gates},
        {"last_hidden" + suffix, "last_cell" + suffix, "results" + suffix},
        {attribute("body", stepOf(m_form, of(direction, "recurrence", m_recurrence))),
         attribute("num_scan_inputs", std::int64_t{1}), attribute("scan_input_directions", order),
         attribute("scan_output_directions", order)});
    m_hidden.push_back(outputs[0]);
    m_cell.push_back(outputs[1]);
    m_results.push_back(outputs[2]);
  }

  /// Output `output`: the directions' `values` side by side along a new axis.
  void give(std::size_t output, const std::string& what, const std::vector<std::string>& values, std::int64_t axis) {
    if (!m_form.wants(output)) return;
    std::vector<std::string> apart;
    for (const std::string& value : values)
      apart.push_back(m_form.add(what + "_apart", "Unsqueeze", {value, m_form.ints(what + "_axis", {axis})}));
    m_form.give(output, what, "Concat", std::move(apart), {attribute("axis", axis)});
  }

  Form& m_form;
  std::string m_x, m_weights, m_recurrence;
  std::vector<std::string> m_hidden, m_cell, m_results;
};

/// Whether the steps are those of stepOf().
bool isUsual(const Form& form) {
  const bool plain = form.intOf("input_forget", 0) == 0 && form.floatOf("clip", 0) == 0;
  return plain && form.node().attribute("activations") == nullptr && !form.has(kLengths) && !form.has(kPeepholes);
}

}  // namespace

/// LSTM with x quantised by its own range, the hidden state before each step too, and the weights that the integers
/// stand for. With lengths, peepholes, a clip or other activations it is LSTM itself, whose hidden state stays as it
/// is.
Status dynamicQuantizeLstm(Form& form) {
  const auto codes =
      form.addMany("quantize", "DynamicQuantizeLinear", {form.in(kX)}, {"x_codes", "x_scale", "x_zero_point"});
  const std::string x = form.add("x", "DequantizeLinear", codes);
  const std::string weights = TRY(wideGates(form, "weights", kWeights, kWeightScale));
  const std::string recurrence = TRY(wideGates(form, "recurrence", kRecurrence, kRecurrenceScale));
  if (isUsual(form)) {
    QuantizedLstm(form, x, weights, recurrence).finish();
    return Done{};
  }
  const auto turned = [&](const std::string& what, const std::string& value) {
    return form.add(what, "Transpose", {value}, {attribute("perm", Ints{0, 2, 1})});
  };
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < 3; ++i) outputs.push_back(form.wants(i) ? form.node().outputs[i] : std::string());
  form.finish("LSTM",
              {x, turned("w", weights), turned("r", recurrence), form.in(kBias), form.in(kLengths), form.in(kHidden),
               form.in(kCell), form.in(kPeepholes)},
              form.node().attributes, std::move(outputs));
  return Done{};
}

}  // namespace fusescope::plain
