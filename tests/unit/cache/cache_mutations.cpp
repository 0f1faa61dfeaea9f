#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "compilers/probed/probed_kind.h"
#include "tests/unit/cache/mutant_network.h"

namespace fusescope::test {
namespace {

/// Changes one thing of a network. Each function returns the kind of what it changed; empty: there is no such thing.
class Mutation {
 public:
  Mutation(MutantNetwork& network, MutantChoices& choices) : m_network(network), m_choices(choices) {}

  std::string run(int kind) {
    using Change = std::string (Mutation::*)();
    static constexpr std::array<Change, kMutationKinds> kChanges{
        &Mutation::attribute, &Mutation::axis,   &Mutation::weight,   &Mutation::integers, &Mutation::quantisation,
        &Mutation::operation, &Mutation::wiring, &Mutation::order,    &Mutation::outputs,  &Mutation::type,
        &Mutation::extent,    &Mutation::symbol, &Mutation::ranges,   &Mutation::body,     &Mutation::option,
        &Mutation::threads,   &Mutation::pin,    &Mutation::compiler, &Mutation::names};
    return (this->*kChanges[static_cast<std::size_t>(kind)])();
  }

 private:
  MutantNode& node() { return m_choices.any(m_network.nodes); }
  std::string oneOf(const std::vector<std::string>& words) { return m_choices.any(words); }
  std::string number(int from, int count) { return fmt::format("{}", from + m_choices.pick(count)); }

  /// Returns another value for an attribute that is no axis; empty: the attribute cannot be changed.
  std::string otherValue(const std::string& name) {
    static const std::set<std::string> kFlags{"transB",   "transA", "exclusive", "reverse", "count_include_pad",
                                              "ceil_mode"};
    static const std::set<std::string> kNumbers{"alpha", "beta", "epsilon"};
    if (kFlags.contains(name)) return number(0, 2);
    if (kNumbers.contains(name)) return fmt::format("0.{}", 125 * (1 + m_choices.pick(7)));
    if (name == "pads") return fmt::format("[{}, {}]", m_choices.pick(3), m_choices.pick(3));
    if (name == "strides" || name == "dilations") return fmt::format("[{}]", 1 + m_choices.pick(2));
    if (name == "kernel_shape") return fmt::format("[{}]", 2 + m_choices.pick(2));
    if (name == "approximate") return oneOf({"\"none\"", "\"tanh\""});
    if (name == "mode") return oneOf({"\"constant\"", "\"edge\"", "\"wrap\"", "\"reflect\""});
    return {};
  }

  std::string attribute() {
    MutantNode& of = node();
    if (of.attributes.empty()) return {};
    auto& [name, value] = m_choices.any(of.attributes);
    const std::string other = otherValue(name);
    if (other.empty()) return {};
    value = other;
    return "attribute";
  }
  std::string axis() {
    MutantNode& of = node();
    if (of.op == "DequantizeLinear") return {};
    if (const auto found = of.attributes.find("axis"); found != of.attributes.end()) {
      found->second = number(-1, 4);
    } else if (const auto order = of.attributes.find("perm"); order != of.attributes.end()) {
      order->second = oneOf({"[0, 1, 2]", "[0, 2, 1]", "[1, 0, 2]", "[1, 2, 0]", "[2, 0, 1]", "[2, 1, 0]"});
    } else if (of.op.starts_with("Reduce") && of.inputs.size() == 2) {
      m_network.constants.at(of.inputs[1]).numbers = {static_cast<double>(m_choices.pick(3))};
    } else if (of.op == "Slice" && of.inputs.size() == 4) {
      m_network.constants.at(of.inputs[3]).numbers = {static_cast<double>(m_choices.pick(3))};
    } else if (of.op == "CumSum") {
      m_network.constants.at(of.inputs[1]).numbers = {static_cast<double>(m_choices.pick(3))};
    } else {
      return {};
    }
    return "axis";
  }

  /// Returns the constants that are scales and zero points.
  std::set<std::string> ofCodes() const {
    std::set<std::string> names;
    for (const MutantNode& each : m_network.nodes)
      if (each.op.ends_with("quantizeLinear") || each.op == "QuantizeLinear")
        names.insert(each.inputs.begin() + 1, each.inputs.end());
    return names;
  }
  std::string changeOne(const std::string& type, bool isOfCodes, double by) {
    std::vector<MutantConstant*> all;
    const std::set<std::string> codes = ofCodes();
    for (auto& [name, constant] : m_network.constants)
      if ((type.empty() || constant.type == type) && codes.contains(name) == isOfCodes) all.push_back(&constant);
    if (all.empty()) return {};
    MutantConstant& changed = *m_choices.any(all);
    m_choices.any(changed.numbers) += changed.type == "T" ? by : 1;
    return "changed";
  }
  std::string weight() {
    const std::string type = oneOf({"T", "T", "int8"});
    const double by = m_choices.pick(8) == 0 ? std::numeric_limits<double>::infinity() : 0.0625;
    return changeOne(type, false, by).empty() ? "" : "constant";
  }
  std::string integers() { return changeOne("int64", false, 1).empty() ? "" : "constant of a move"; }
  std::string quantisation() {
    MutantNode& of = node();
    if (of.op == "DequantizeLinear" && m_choices.pick(3) == 0 && of.attributes.contains("axis")) {
      of.attributes["axis"] = number(0, 2);
      return "scale or zero point";
    }
    return changeOne("", true, 0.0625).empty() ? "" : "scale or zero point";
  }

  static const std::vector<std::string>* alike(const std::string& op) {
    static const std::vector<std::vector<std::string>> kAlike{
        {"Add", "Sub", "Mul", "Max", "Min", "Div"},
        {"Relu", "Neg", "Tanh", "Sigmoid", "Abs", "Exp", "Softplus"},
        {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceMin", "ReduceL1"},
        {"Softmax", "LogSoftmax"},
        {"Greater", "Less", "GreaterOrEqual", "LessOrEqual"}};
    for (const auto& list : kAlike)
      if (std::ranges::find(list, op) != list.end()) return &list;
    return nullptr;
  }
  std::string operation() {
    MutantNode& of = node();
    const auto* others = alike(of.op);
    if (others == nullptr) return {};
    of.op = oneOf(*others);
    return "operator";
  }
  /// Returns the inputs of the network and the first results of the nodes before `last`.
  std::vector<std::string> valuesBefore(const MutantNode& last) const {
    std::vector<std::string> values{"x", "y"};
    for (const MutantNode& each : m_network.nodes) {
      if (&each == &last) break;
      values.push_back(each.outputs.front());
    }
    return values;
  }
  std::string wiring() {
    MutantNode& of = node();
    std::string& input = m_choices.any(of.inputs);
    if (m_network.constants.contains(input)) return {};
    input = oneOf(valuesBefore(of));
    return "wiring";
  }
  std::string order() {
    MutantNode& of = node();
    if (of.inputs.size() < 2) return {};
    std::swap(m_choices.any(of.inputs), m_choices.any(of.inputs));
    return "order of operands";
  }
  std::string outputs() {
    if (m_choices.pick(2) == 0)
      std::swap(m_network.outputs[0], m_network.outputs[1]);
    else
      m_choices.any(m_network.outputs) = node().outputs.front();
    return m_network.outputs[0] == m_network.outputs[1] ? "" : "outputs";
  }
  std::string type() {
    if (m_choices.pick(2) == 0) {
      m_network.type = "double";
      return "type";
    }
    for (MutantNode& each : m_network.nodes) {
      if (each.op == "Cast") each.attributes["to"] = oneOf({"1", "6", "10", "11", "16"});
      if (each.op != "QuantizeLinear") continue;
      MutantConstant& zero = m_network.constants.at(each.inputs[2]);
      if (zero.numbers.front() >= 0) zero.type = "uint8";
    }
    return "type";
  }
  std::string extent() {
    const MutantAsking asking = m_network.asking;
    std::array extents{m_network.batch, m_network.rows, m_network.columns};
    const int axis = m_choices.pick(3);
    if (axis == 0 && !m_network.symbolOfX.empty()) return {};
    ++extents[static_cast<std::size_t>(axis)];
    m_network = mutantBase(m_network.seed, extents);
    return "extent";
  }
  std::string symbol() {
    std::string& symbol = m_choices.pick(2) == 0 ? m_network.symbolOfX : m_network.symbolOfY;
    symbol = oneOf({"", "N", "M"});
    m_network.asking.ranges.clear();
    const std::array<std::int64_t, 3> range{1, m_network.batch, 8};
    if (!m_network.symbolOfX.empty()) m_network.asking.ranges["x"] = range;
    if (!m_network.symbolOfY.empty()) m_network.asking.ranges["y"] = range;
    return "symbol";
  }
  std::string ranges() {
    if (m_network.asking.ranges.empty() || m_network.asking.options.compiler != "tensorrt-rtx") return {};
    const auto place = static_cast<std::size_t>(m_choices.pick(3));
    const std::int64_t by = place == 2 ? 1 + m_choices.pick(8) : 1;
    for (auto& [name, range] : m_network.asking.ranges) range[place] += by;
    return "range of an input";
  }
  std::string body() {
    std::vector<MutantNode*> holders;
    for (MutantNode& each : m_network.nodes)
      if (!each.bodies.empty()) holders.push_back(&each);
    if (holders.empty()) return {};
    MutantNode& of = *m_choices.any(holders);
    MutantNode::Body& changed = m_choices.any(of.bodies).second;
    MutantNode& inside = m_choices.any(changed.nodes);
    switch (m_choices.pick(4)) {
      case 0:
        std::swap(of.bodies["then_branch"], of.bodies["else_branch"]);
        break;
      case 1:
        std::swap(changed.outputs[0], changed.outputs[1]);
        break;
      case 2:
        inside.op = oneOf(*alike(inside.op));
        break;
      default:
        if (std::string& input = m_choices.any(inside.inputs); !m_network.constants.contains(input))
          input = oneOf(valuesBefore(of));
    }
    return "body";
  }

  std::string option() {
    MutantAsking& asking = m_network.asking;
    const std::vector<CompilerOption> all = findProbedKind(asking.options.compiler)->options();
    if (asking.options.compiler == "tensorrt-rtx" && m_choices.pick(2) == 0) {
      asking.options.workspaceBytes = std::int64_t{1 + m_choices.pick(64)} << 20;
      return "option";
    }
    if (all.empty()) return {};
    const CompilerOption& option = m_choices.any(all);
    std::vector<std::string> values = option.values;
    if (option.name == "disable") values = {"MatMulAddFusion", "NchwcTransformer", "GeluFusion", "ConstantFolding"};
    if (option.name == "provider")
      values = {"CUDAExecutionProvider", "DnnlExecutionProvider", "XnnpackExecutionProvider"};
    // OpenVINO is asked for f32 if nothing is said.
    std::erase_if(values, [&](const std::string& value) { return value == option.initial || value == "f32"; });
    if (values.empty()) return {};
    asking.options.compilerOptions[option.name] = oneOf(values);
    return "option";
  }
  std::string threads() {
    m_network.asking.threads = 1 + m_choices.pick(8);
    return "threads";
  }
  /// Pins a node that calculates. A node that only moves or converts numbers is handed over alike in every type.
  std::string pin() {
    static const std::set<std::string> kCalculate{"MatMul",      "Gemm",
                                                  "Conv",        "LayerNormalization",
                                                  "HardSigmoid", "LeakyRelu",
                                                  "Gelu",        "BatchNormalization",
                                                  "AveragePool", "InstanceNormalization"};
    const MutantNode& of = node();
    if (alike(of.op) == nullptr && !kCalculate.contains(of.op)) return {};
    const DataType type = m_choices.pick(2) == 0 ? DataType::BF16 : DataType::F16;
    m_network.asking.options.directives = {
        {.id = "1", .kind = DirectiveKind::Pin, .pattern = "node_" + of.outputs.front(), .type = type}};
    return "pin";
  }
  std::string compiler() {
    MutantAsking& asking = m_network.asking;
    const std::array fields{&asking.version, &asking.package,   &asking.code,
                            &asking.driver,  &asking.processor, &asking.before};
    *m_choices.any(fields) = fmt::format("other {}", m_choices.pick(1 << 20));
    return "compiler or machine";
  }
  std::string names() {
    m_network.prefix = "other_";
    return kOnlyNames;
  }

  MutantNetwork& m_network;
  MutantChoices& m_choices;
};

}  // namespace

std::string mutate(MutantNetwork& network, int kind, MutantChoices& choices) {
  const MutantNetwork before = network;
  const std::string changed = Mutation(network, choices).run(kind);
  return network == before ? std::string() : changed;
}

}  // namespace fusescope::test
