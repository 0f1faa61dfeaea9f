//
// Scan: a graph that is run for each slice of its inputs.
// Semantics: ONNX operator Scan, as of opset 9.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/body_types.h"
#include "ops/support/graph_evaluator.h"
#include "ops/support/joining.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

/// Scan(states …, scanned …): the body's inputs are the states and a slice of each scanned input. Its outputs are the
/// next states and one element for each scan output.
struct ScanForm {
  Subgraph body;
  std::size_t states = 0, scanned = 0, made = 0;
  Ints inputAxes, outputAxes;              ///< as given: may count from the back
  Ints inputDirections, outputDirections;  ///< 1: from the end to the start
};

/// Reads a list attribute with `count` entries; all are 0 if it is absent.
Result<Ints> entries(const Node& node, const std::string& key, std::size_t count) {
  Ints list = node.intsAttribute(key, Ints(count, 0));
  if (list.size() != count)
    return attributeProblem(key, fmt::format("has {} entries, expected {}", list.size(), count));
  return list;
}

Result<Ints> directions(const Node& node, const std::string& key, std::size_t count) {
  Ints list = TRY(entries(node, key, count));
  for (const std::int64_t direction : list)
    if (direction != 0 && direction != 1)
      return attributeProblem(key, fmt::format("contains {}, expected 0 or 1", direction));
  return list;
}

Result<ScanForm> scanForm(const Node& node, std::size_t inputs) {
  ScanForm form{.body = TRY(bodyOf(node, "body"))};
  const std::int64_t scanned = node.intAttribute("num_scan_inputs", 0);
  if (scanned < 1 || scanned > static_cast<std::int64_t>(inputs))
    return attributeProblem("num_scan_inputs", fmt::format("is {}, but the node has {} inputs", scanned, inputs));
  form.scanned = static_cast<std::size_t>(scanned);
  form.states = inputs - form.scanned;
  const std::size_t outputs = form.body.graph->outputs().size();
  if (outputs < form.states)
    return attributeProblem("body", fmt::format("its graph has {} outputs, expected at least {}, one for each state",
                                                outputs, form.states));
  form.made = outputs - form.states;
  form.body = TRY(checkedBody(node, "body", inputs, outputs));
  if (node.outputs.size() > outputs)
    return problem(fmt::format("the body produces {} outputs, but the node has {}", outputs, node.outputs.size()));
  form.inputAxes = TRY(entries(node, "scan_input_axes", form.scanned));
  form.inputDirections = TRY(directions(node, "scan_input_directions", form.scanned));
  form.outputAxes = TRY(entries(node, "scan_output_axes", form.made));
  form.outputDirections = TRY(directions(node, "scan_output_directions", form.made));
  return form;
}

Result<LoopTypes> inferScanBody(const InferContext& context, const ScanForm& form) {
  LoopInputs inputs;
  for (std::size_t i = 0; i < form.states; ++i) inputs.carried.push_back(context.input(i));
  for (std::size_t i = 0; i < form.scanned; ++i) {
    TensorType slice = context.input(form.states + i);
    if (slice.shape.ranked) {
      const std::size_t axis = TRY(normalizedAxis(form.inputAxes[i], slice.shape.rank(), "scan_input_axes"));
      slice.shape.dims.erase(slice.shape.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    inputs.after.push_back(std::move(slice));
  }
  return inferLoop(context, "body", std::move(inputs), 0);
}

/// Returns the common extent of all scanned inputs along their axes.
Result<Dim> scannedExtent(const InferContext& context, const ScanForm& form) {
  Dim extent;
  for (std::size_t i = 0; i < form.scanned; ++i) {
    const Shape& shape = context.input(form.states + i).shape;
    if (!shape.ranked) continue;
    const std::size_t axis = TRY(normalizedAxis(form.inputAxes[i], shape.rank(), "scan_input_axes"));
    extent = TRY(unified(context, extent, shape.dims[axis], "the extents of the scanned axes"));
  }
  return extent;
}

Result<Types> inferScan(const InferContext& context) {
  const ScanForm form = TRY(scanForm(context.node(), context.inputCount()));
  const Dim extent = TRY(scannedExtent(context, form));
  const LoopTypes types = TRY(inferScanBody(context, form));
  Types outputs = types.carried;
  for (std::size_t i = 0; i < form.made; ++i) {
    TensorType type = types.outputs[form.states + i];
    if (type.shape.ranked) {
      const std::size_t axis = TRY(normalizedAxis(form.outputAxes[i], type.shape.rank() + 1, "scan_output_axes"));
      type.shape.dims.insert(type.shape.dims.begin() + static_cast<std::ptrdiff_t>(axis), extent);
    }
    outputs.push_back(std::move(type));
  }
  return outputs;
}

Result<Types> scanBodyInputs(const InferContext& context, const std::string&) {
  const ScanForm form = TRY(scanForm(context.node(), context.inputCount()));
  return TRY(inferScanBody(context, form)).inputs.types;
}

/// Returns the slices of one iteration.
Result<Tensors> slicesAt(const KernelContext& context, const ScanForm& form, std::int64_t trip, std::int64_t trips) {
  Tensors slices;
  for (std::size_t i = 0; i < form.scanned; ++i) {
    const Tensor& input = context.input(form.states + i);
    const std::size_t axis = TRY(normalizedAxis(form.inputAxes[i], input.dims().size(), "scan_input_axes"));
    slices.push_back(TRY(placeOf(input, axis, form.inputDirections[i] == 0 ? trip : trips - 1 - trip)));
  }
  return slices;
}

Result<std::int64_t> tripsOf(const KernelContext& context, const ScanForm& form) {
  const Dims& dims = context.input(form.states).dims();
  return dims[TRY(normalizedAxis(form.inputAxes[0], dims.size(), "scan_input_axes"))];
}

Result<Tensors> runScan(const KernelContext& context) {
  const ScanForm form = TRY(scanForm(context.node(), context.inputCount()));
  const std::int64_t trips = TRY(tripsOf(context, form));
  Tensors states;
  for (std::size_t i = 0; i < form.states; ++i) states.push_back(context.input(i));
  std::vector<Tensors> made(form.made);
  const GraphEvaluator body(*form.body.graph);
  const auto captures = context.captures("body");
  for (std::int64_t trip = 0; trip < trips; ++trip) {
    TRY(checkStop(context.stop()));
    const Tensors slices = TRY(slicesAt(context, form, trip, trips));
    std::vector<const Tensor*> inputs;
    for (const Tensor& state : states) inputs.push_back(&state);
    for (const Tensor& slice : slices) inputs.push_back(&slice);
    inputs.insert(inputs.end(), captures.begin(), captures.end());
    Tensors outputs = TRY(body.run(inputs, context.stop()));
    for (std::size_t i = 0; i < form.states; ++i) states[i] = std::move(outputs[i]);
    for (std::size_t i = 0; i < form.made; ++i) made[i].push_back(std::move(outputs[form.states + i]));
  }
  Tensors results = std::move(states);
  for (std::size_t i = 0; i < form.made && results.size() < context.outputCount(); ++i) {
    if (form.outputDirections[i] == 1) std::ranges::reverse(made[i]);
    results.push_back(TRY(scanOutput(made[i], form.outputAxes[i], context.output(form.states + i))));
  }
  return results;
}

}  // namespace

void registerScan(OpRegistry& registry) {
  registry.add({.op = "Scan",
                .kind = OpKind::ControlFlow,
                .minInputs = 1,
                .maxInputs = -1,
                .infer = inferScan,
                .kernel = runScan,
                .maxOutputs = -1,
                .extentsDependOnData = true,
                .bodyInputs = scanBodyInputs});
}

}  // namespace fusescope::ops
