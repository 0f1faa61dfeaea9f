#include "frontends/torch/aten_network.h"

#include <fmt/format.h>

#include <set>

#include "frontends/onnx/content_hash.h"
#include "frontends/torch/program_inputs.h"
#include "frontends/torch/symbolic_extents.h"

namespace fusescope::torch {
namespace {

TensorType typeOf(const TensorMeta& meta) {
  TensorType type{.dtype = meta.type, .shape = Shape::of(std::vector<Dim>())};
  for (const SymbolicNumber& size : meta.sizes) type.shape.dims.push_back(extentOf(size));
  return type;
}

/// Returns the type of a value of `graph`: a tensor, or a scalar for a number. It is unknown if the graph does not
/// contain it.
TensorType typeIn(const ProgramGraph& graph, const std::string& value) {
  if (const auto tensor = graph.tensors.find(value); tensor != graph.tensors.end()) return typeOf(tensor->second);
  const TensorType scalar{.dtype = DataType::I64, .shape = Shape::of(std::vector<Dim>())};
  if (graph.integers.contains(value)) return scalar;
  if (const auto number = graph.numbers.find(value); number != graph.numbers.end())
    return {.dtype = number->second, .shape = scalar.shape};
  return {};
}

/// Returns "torch.ops.aten.add.Tensor" without the domain. What is not an operator of PyTorch ("_operator.mul") is
/// unchanged.
std::string operatorOf(const std::string& target) {
  const std::string prefix = std::string(kDomain) + ".";
  return target.starts_with(prefix) ? target.substr(prefix.size()) : target;
}

/// Makes one graph: that of the network, or one that is an argument of a node.
class GraphMaker {
 public:
  GraphMaker(const ProgramGraph& graph, OriginId holder, const StopToken& stop)
      : m_program(graph), m_holder(holder), m_stop(stop) {}

  GraphEditor& editor() { return m_editor; }
  void define(const std::string& name, ValueId value) { m_values[name] = value; }
  /// Defines a name that is not a tensor but an object of another class. Nodes that read it get no operand for it.
  void defineOpaque(const std::string& name) { m_values[name] = ValueId(); }

  Status addNodes() {
    for (std::size_t i = 0; i < m_program.nodes.size(); ++i) {
      TRY(checkStop(m_stop));
      TRY(addNode(m_program.nodes[i], m_holder.valid() ? m_holder : OriginId(i)));
    }
    return Done{};
  }

  Status addOutput(const std::string& name) {
    const auto value = m_values.find(name);
    if (value == m_values.end())
      return Diagnostic{.message = "is an output of the graph, but no node calculates it", .where = {.value = name}};
    if (value->second.valid() && m_outputs.insert(value->second).second) m_editor.addOutput(value->second);
    return Done{};
  }

 private:
  Status addNode(const ProgramNode& from, OriginId origin) {
    Node node{.id = {},
              .op = operatorOf(from.target),
              .domain = std::string(kDomain),
              .name = from.name.empty() ? from.target : from.name,
              .origins = {origin}};
    for (const ProgramArgument& argument : from.inputs) TRY(addArgument(from, argument, origin, node));
    for (const std::string& output : from.outputs) {
      if (output.empty()) {
        node.outputs.emplace_back();
        continue;
      }
      if (m_values.contains(output))
        return Diagnostic{.message = "is calculated twice", .where = {.node = from.name, .value = output}};
      node.outputs.push_back(m_editor.addValue(output, typeIn(m_program, output)));
      define(output, node.outputs.back());
    }
    m_editor.addNode(std::move(node));
    return Done{};
  }

  Status addArgument(const ProgramNode& from, const ProgramArgument& argument, OriginId origin, Node& node) {
    for (const std::string& read : argument.reads) {
      const auto value = read.empty() ? m_values.end() : m_values.find(read);
      if (!read.empty() && value == m_values.end())
        return Diagnostic{.message = "is read before any node calculates it",
                          .where = {.node = from.name, .value = read}};
      node.inputs.push_back(read.empty() ? ValueId() : value->second);
    }
    if (argument.literal) node.attributes.insert_or_assign(argument.name, *argument.literal);
    if (argument.body != nullptr)
      node.attributes.insert_or_assign(argument.name, TRY(bodyOf(from, *argument.body, origin)));
    return Done{};
  }

  Result<Subgraph> bodyOf(const ProgramNode& holder, const ProgramGraph& body, OriginId origin) {
    GraphMaker maker(body, origin, m_stop);
    const auto make = [&]() -> Result<std::shared_ptr<const Graph>> {
      for (const std::string& input : body.inputs)
        if (!input.empty()) maker.define(input, maker.m_editor.addInput(input, typeIn(body, input)));
      TRY(maker.addNodes());
      for (const std::string& output : body.outputs)
        if (!output.empty()) TRY(maker.addOutput(output));
      return std::move(maker.m_editor).publish();
    };
    auto made = make();
    if (made.ok()) return Subgraph{.graph = std::move(made).value(), .captures = {}};
    Diagnostic error = std::move(made).error();
    error.where.node = holder.name + (error.where.node.empty() ? "" : "/" + error.where.node);
    return error;
  }

  const ProgramGraph& m_program;
  OriginId m_holder;  ///< of a body: the node that holds it, for which all of its nodes stand
  const StopToken& m_stop;
  GraphEditor m_editor;
  std::map<std::string, ValueId> m_values;
  std::set<ValueId> m_outputs;
};

class NetworkMaker {
 public:
  NetworkMaker(const ExportedProgram& program, const std::map<std::string, Tensor>& weights, const StopToken& stop)
      : m_program(program), m_weights(weights), m_maker(program.graph, OriginId(), stop) {}

  Result<Model> run() {
    TRY(addInputs());
    TRY(addWeights());
    addOrigins();
    TRY(m_maker.addNodes());
    for (const ProgramOutput& output : m_program.outputs)
      if (!output.value.empty()) TRY(m_maker.addOutput(output.value));
    m_model.graph = TRY(std::move(m_maker.editor()).publish());
    m_model.contentHash = contentHash(*m_model.graph);
    return std::move(m_model);
  }

 private:
  Status addInputs() {
    for (const UserInput& input : userInputsOf(m_program)) {
      if (input.isConstant) continue;
      const TensorType type = typeIn(m_program.graph, input.value);
      if (type.dtype == DataType::Undefined) return unknownType(input.value);
      m_maker.define(input.value, m_maker.editor().addInput(input.name, type));
      m_model.inputSpecs.push_back(inputSpecOf(m_program, input, m_model.decisions));
    }
    return Done{};
  }

  Diagnostic unknownType(const std::string& value) const {
    const auto tensor = m_program.graph.tensors.find(value);
    if (tensor == m_program.graph.tensors.end())
      return {.message = "is an input that the graph does not describe", .where = {.value = value}};
    return {.message = fmt::format("is of the PyTorch type {}, which is not known here", tensor->second.typeNumber),
            .where = {.value = value}};
  }

  /// Returns the names that nodes read, or that the network returns directly.
  std::set<std::string> namesRead() const {
    std::set<std::string> read;
    for (const ProgramNode& node : m_program.graph.nodes)
      for (const ProgramArgument& argument : node.inputs) read.insert(argument.reads.begin(), argument.reads.end());
    for (const ProgramOutput& output : m_program.outputs) read.insert(output.value);
    return read;
  }

  Status addWeights() {
    using Kind = ProgramInput::Kind;
    const std::set<std::string> read = namesRead();
    std::int64_t unused = 0, unusedBytes = 0;
    for (const ProgramInput& input : m_program.inputs) {
      if (input.kind == Kind::Other || (input.kind == Kind::Constant && !input.value.empty()))
        m_maker.defineOpaque(input.value);
      if (input.kind != Kind::Parameter && input.kind != Kind::Buffer && input.kind != Kind::TensorConstant) continue;
      const auto weight = m_weights.find(input.target);
      if (weight == m_weights.end())
        return Diagnostic{.message = "is read by the graph, but is not among the weights of the file",
                          .where = {.value = input.target}};
      if (read.contains(input.value)) {
        addWeight(input, weight->second);
      } else {
        ++unused;
        unusedBytes += static_cast<std::int64_t>(weight->second.byteSize());
      }
    }
    if (unused > 0)
      m_model.decisions.push_back(
          decide("import.initializers_unused", {}, "import", {{"count", unused}, {"bytes", unusedBytes}}));
    return Done{};
  }

  void addWeight(const ProgramInput& input, const Tensor& weight) {
    m_model.parameters += weight.count();
    m_model.weightBytes += static_cast<std::int64_t>(weight.byteSize());
    m_model.weightless = m_model.weightless || !weight.hasData();
    m_maker.define(input.value, m_maker.editor().addConstant(input.target, weight));
  }

  void addOrigins() {
    for (const ProgramNode& node : m_program.graph.nodes)
      m_model.origins.push_back({.name = node.name.empty() ? node.target : node.name,
                                 .op = operatorOf(node.target),
                                 .domain = std::string(kDomain),
                                 .module = node.modules.empty() ? std::string() : node.modules.back().path,
                                 .source = node.stackTrace});
    m_model.fileNodes = static_cast<std::int64_t>(m_model.origins.size());
  }

  const ExportedProgram& m_program;
  const std::map<std::string, Tensor>& m_weights;
  GraphMaker m_maker;
  Model m_model;
};

}  // namespace

Result<Model> atenNetwork(const ExportedProgram& program, const std::map<std::string, Tensor>& weights,
                          const StopToken& stop) {
  return NetworkMaker(program, weights, stop).run();
}

}  // namespace fusescope::torch
