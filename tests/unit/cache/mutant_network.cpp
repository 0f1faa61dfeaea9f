#include "tests/unit/cache/mutant_network.h"

#include <fmt/format.h>

#include <tuple>

namespace fusescope::test {
namespace {

class MutantText {
 public:
  explicit MutantText(const MutantNetwork& network) : m_network(network) {}

  std::string all() const {
    std::string constants, outputs, nodes;
    for (const auto& [name, constant] : m_network.constants)
      constants += fmt::format("{}{} {} = {{{}}}", constants.empty() ? "" : ", ", typeOf(constant), named(name),
                               fmt::join(constant.numbers, ", "));
    for (const std::string& output : m_network.outputs)
      outputs += fmt::format("{}{} {}", outputs.empty() ? "" : ", ", typeText("A, B, C"), named(output));
    for (const MutantNode& node : m_network.nodes) nodes += "  " + textOf(node) + "\n";
    return fmt::format("<ir_version: 10, opset_import: [\"\" : 20]>\nnet ({} {}, {} {}) => ({}) <{}> {{\n{}}}",
                       typeText(input(m_network.symbolOfX)), named("x"), typeText(input(m_network.symbolOfY)),
                       named("y"), outputs, constants, nodes);
  }

 private:
  std::string named(const std::string& name) const { return name.empty() ? "" : m_network.prefix + name; }
  std::string typeText(const std::string& dims) const { return fmt::format("{}[{}]", m_network.type, dims); }
  std::string input(const std::string& symbol) const {
    const std::string first = symbol.empty() ? fmt::format("{}", m_network.batch) : symbol;
    return fmt::format("{}, {}, {}", first, m_network.rows, m_network.columns);
  }
  std::string typeOf(const MutantConstant& constant) const {
    const std::string& type = constant.type == "T" ? m_network.type : constant.type;
    return constant.dims.empty() ? type : fmt::format("{}[{}]", type, fmt::join(constant.dims, ", "));
  }
  std::string list(const std::vector<std::string>& names) const {
    std::vector<std::string> all;
    for (const std::string& name : names) all.push_back(named(name));
    return fmt::format("{}", fmt::join(all, ", "));
  }
  std::string textOf(const MutantNode& node) const {
    std::vector<std::string> attributes;
    for (const auto& [name, value] : node.attributes) attributes.push_back(name + " = " + value);
    for (const auto& [name, body] : node.bodies) {
      std::string outputs, nodes;
      for (const std::string& output : body.outputs)
        outputs += fmt::format("{}{} {}", outputs.empty() ? "" : ", ", typeText("A, B, C"), named(output));
      for (const MutantNode& inside : body.nodes) nodes += " " + textOf(inside);
      attributes.push_back(fmt::format("{0} = {0}_of () => ({1}) {{{2} }}", name, outputs, nodes));
    }
    const std::string written = attributes.empty() ? "" : fmt::format("<{}> ", fmt::join(attributes, ", "));
    return fmt::format("[{}node_{}] {} = {} {}({})", m_network.prefix, node.outputs.front(), list(node.outputs),
                       node.op, written, list(node.inputs));
  }

  const MutantNetwork& m_network;
};

/// Adds parts to a network. Each part reads values of the network's extents and gives one.
class MutantParts {
 public:
  MutantParts(MutantNetwork& network, MutantChoices& random) : m_network(network), m_random(random) {}

  void add() {
    using Part = std::string (MutantParts::*)();
    static constexpr Part kParts[] = {
        &MutantParts::pointwise, &MutantParts::binary,          &MutantParts::withNumber, &MutantParts::withVector,
        &MutantParts::softmax,   &MutantParts::product,         &MutantParts::gemm,       &MutantParts::convolution,
        &MutantParts::norm,      &MutantParts::reduction,       &MutantParts::attention,  &MutantParts::joined,
        &MutantParts::quantised, &MutantParts::codes,           &MutantParts::cast,       &MutantParts::branches,
        &MutantParts::pool,      &MutantParts::chosen,          &MutantParts::transposed, &MutantParts::batchNorm,
        &MutantParts::padded,    &MutantParts::quantisedProduct};
    m_values.push_back((this->*kParts[m_random.pick(std::size(kParts))])());
  }
  const std::vector<std::string>& values() const { return m_values; }

 private:
  using Dims = std::vector<std::int64_t>;
  using Attributes = std::map<std::string, std::string>;

  /// Returns the newest value in most cases, so that what is made is read.
  std::string value() { return m_random.pick(3) > 0 ? m_values.back() : m_random.any(m_values); }
  std::string number(int most = 8) { return fmt::format("0.{}", 125 * (1 + m_random.pick(std::min(most, 7)))); }

  std::string constant(Dims dims, const std::string& type = "T", double least = -2, double step = 0.0625,
                       int steps = 64) {
    std::int64_t count = 1;
    for (const std::int64_t extent : dims) count *= extent;
    MutantConstant made{type, std::move(dims), {}};
    MutantChoices numbers = ofConstant();
    for (std::int64_t i = 0; i < count; ++i) made.numbers.push_back(least + step * numbers.pick(steps));
    return addConstant(std::move(made));
  }
  /// Returns choices for the numbers of the next constant. The choices of what follows do not depend on how many
  /// numbers there are, so that they are the same for other extents.
  MutantChoices ofConstant() const {
    return MutantChoices(m_network.seed + 7919 * static_cast<std::uint32_t>(m_network.constants.size()));
  }
  std::string integers(std::vector<double> numbers) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    return addConstant({"int64", {count}, std::move(numbers)});
  }
  std::string scalar(const std::string& type, double number) { return addConstant({type, {}, {number}}); }
  std::string addConstant(MutantConstant constant) {
    std::string name = fmt::format("w{}", m_network.constants.size());
    m_network.constants.emplace(name, std::move(constant));
    return name;
  }
  std::string node(const std::string& op, std::vector<std::string> inputs, Attributes attributes = {}) {
    std::string name = fmt::format("v{}", ++m_made);
    m_network.nodes.push_back({op, std::move(inputs), {name}, std::move(attributes), {}});
    return name;
  }
  std::string oneOf(std::vector<std::string> ops) { return m_random.any(ops); }

  std::string pointwise() {
    return node(oneOf({"Relu", "Neg", "Tanh", "Sigmoid", "Abs", "Exp", "Softplus"}), {value()});
  }
  std::string binary() { return node(oneOf({"Add", "Sub", "Mul", "Max", "Min"}), {value(), value()}); }
  std::string withNumber() {
    switch (m_random.pick(4)) {
      case 0:
        return node("LeakyRelu", {value()}, {{"alpha", number()}});
      case 1:
        return node("HardSigmoid", {value()}, {{"alpha", number()}, {"beta", number()}});
      case 2:
        return node("Gelu", {value()}, {{"approximate", m_random.pick(2) == 0 ? "\"none\"" : "\"tanh\""}});
      default:
        return node("Clip", {value(), scalar("T", -1 + 0.125 * m_random.pick(8)), scalar("T", 1)});
    }
  }
  std::string withVector() {
    const std::string read = value();
    const Dims dims = m_random.pick(2) == 0 ? Dims{m_network.columns} : Dims{m_network.rows, 1};
    std::vector<std::string> inputs{read, constant(dims)};
    if (m_random.pick(2) == 0) std::swap(inputs[0], inputs[1]);
    return node(oneOf({"Add", "Sub", "Mul"}), std::move(inputs));
  }
  std::string softmax() {
    return node(oneOf({"Softmax", "LogSoftmax"}), {value()}, {{"axis", fmt::format("{}", m_random.pick(3))}});
  }
  std::string product() {
    const std::string made = node("MatMul", {value(), constant({m_network.columns, m_network.columns})});
    return m_random.pick(2) == 0 ? made : node("Relu", {node("Add", {made, constant({m_network.columns})})});
  }
  std::string gemm() {
    const double columns = static_cast<double>(m_network.columns), rows = static_cast<double>(m_network.rows);
    const std::string flat = node("Reshape", {value(), integers({-1, columns})});
    const std::string made =
        node("Gemm", {flat, constant({m_network.columns, m_network.columns}), constant({m_network.columns})},
             {{"alpha", number()}, {"beta", number()}, {"transB", fmt::format("{}", m_random.pick(2))}});
    return node("Reshape", {made, integers({-1, rows, columns})});
  }
  /// The result of the convolution is averaged, so that attributes may change its extents, and scales the value.
  std::string convolution() {
    const std::string read = value();
    const std::int64_t groups = m_random.pick(2) == 0 ? 1 : m_network.rows;
    const std::string made =
        node("Conv", {read, constant({m_network.rows, m_network.rows / groups, 2}), constant({m_network.rows})},
             {{"group", fmt::format("{}", groups)}, {"pads", "[1, 1]"}, {"strides", "[1]"}, {"dilations", "[1]"}});
    const std::string mean = node("ReduceMean", {node("Relu", {made}), integers({2})}, {{"keepdims", "1"}});
    return node("Mul", {read, mean});
  }
  std::string norm() {
    const std::string read = value();
    if (m_random.pick(2) == 0)
      return node("InstanceNormalization", {read, constant({m_network.rows}), constant({m_network.rows})},
                  {{"epsilon", number()}});
    return node("LayerNormalization", {read, constant({m_network.columns}), constant({m_network.columns})},
                {{"axis", "-1"}, {"epsilon", number()}});
  }
  std::string batchNorm() {
    const Dims rows{m_network.rows};
    const std::string read = value();
    return node("BatchNormalization", {read, constant(rows), constant(rows), constant(rows), constant(rows, "T", 0.5)},
                {{"epsilon", number()}});
  }
  std::string reduction() {
    const std::string read = value();
    const double axis = 1 + m_random.pick(2);
    const std::string sum = node(oneOf({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2"}), {read, integers({axis})},
                                 {{"keepdims", "1"}});
    return node(oneOf({"Sub", "Add", "Mul"}), {read, sum});
  }
  std::string attention() {
    const std::string query = value(), key = value();
    const std::string turned = node("Transpose", {key}, {{"perm", "[0, 2, 1]"}});
    const std::string scores = node("Mul", {node("MatMul", {query, turned}), scalar("T", 0.5)});
    return node("MatMul", {node("Softmax", {scores}, {{"axis", "-1"}}), value()});
  }
  std::string joined() {
    const bool byRows = m_random.pick(2) == 0;
    const std::string axis = byRows ? "1" : "2";
    const std::int64_t extent = byRows ? m_network.rows : m_network.columns;
    const std::string both = node("Concat", {value(), value()}, {{"axis", axis}});
    if (m_random.pick(2) == 0) {
      const double from = m_random.pick(static_cast<int>(extent) + 1), to = from + static_cast<double>(extent);
      return node("Slice", {both, integers({from}), integers({to}), integers({byRows ? 1.0 : 2.0})});
    }
    std::vector<double> indices;
    MutantChoices numbers = ofConstant();
    for (std::int64_t i = 0; i < extent; ++i) indices.push_back(numbers.pick(static_cast<int>(2 * extent)));
    return node("Gather", {both, integers(std::move(indices))}, {{"axis", axis}});
  }
  std::string quantised() {
    const std::string scale = scalar("T", 0.0625 * (1 + m_random.pick(8)));
    const std::string zero = scalar("int8", m_random.pick(5) - 2);
    return node("DequantizeLinear", {node("QuantizeLinear", {value(), scale, zero}), scale, zero});
  }
  /// Multiplies by weights that are codes.
  std::string codes() {
    const Dims columns{m_network.columns}, square{m_network.columns, m_network.columns};
    const std::string weights = node("DequantizeLinear",
                                     {constant(square, "int8", -8, 1, 16), constant(columns, "T", 0.0625, 0.0625, 8),
                                      constant(columns, "int8", 0, 1, 2)},
                                     {{"axis", fmt::format("{}", m_random.pick(2))}});
    return node("MatMul", {value(), weights});
  }
  /// Multiplies codes by codes.
  std::string quantisedProduct() {
    const std::string read = quantised();
    const Dims columns{m_network.columns}, square{m_network.columns, m_network.columns};
    const std::string weights = node("DequantizeLinear",
                                     {constant(square, "int8", -8, 1, 16), constant(columns, "T", 0.0625, 0.0625, 8),
                                      constant(columns, "int8", 0, 1, 1)},
                                     {{"axis", "1"}});
    return node("MatMul", {read, weights});
  }
  std::string cast() {
    const std::string other = oneOf({"10", "11", "16", "6"});
    return node("CastLike", {node("Cast", {value()}, {{"to", other}}), "x"});
  }
  std::string branches() {
    const std::string read = value(), other = value(), weight = constant({m_network.columns});
    const std::string most = node("ReduceMax", {read}, {{"keepdims", "0"}});
    const std::string isMore = node("Greater", {most, scalar("T", 0.25 * m_random.pick(4))});
    const std::string name = fmt::format("v{}", ++m_made);
    MutantNode choice{"If", {isMore}, {name, name + "b"}, {}, {}};
    for (const char* branch : {"then_branch", "else_branch"}) {
      const std::string a = fmt::format("v{}", ++m_made), b = fmt::format("v{}", ++m_made);
      MutantNode::Body body{{{oneOf({"Add", "Sub", "Mul"}), {read, other}, {a}, {}, {}},
                             {oneOf({"Sub", "Mul"}), {a, weight}, {b}, {}, {}}},
                            {b, a}};
      choice.bodies.emplace(branch, std::move(body));
    }
    m_network.nodes.push_back(std::move(choice));
    return node("Add", {name, name + "b"});
  }
  std::string pool() {
    if (m_random.pick(2) == 0)
      return node("MaxPool", {value()}, {{"kernel_shape", "[3]"}, {"pads", "[1, 1]"}, {"dilations", "[1]"}});
    return node("AveragePool", {value()}, {{"kernel_shape", "[3]"}, {"pads", "[1, 1]"}, {"count_include_pad", "0"}});
  }
  std::string chosen() {
    const std::string a = value(), b = value();
    return node("Where", {node(oneOf({"Greater", "Less", "GreaterOrEqual"}), {a, scalar("T", 0.25)}), a, b});
  }
  std::string transposed() {
    const std::string there = node("Transpose", {value()}, {{"perm", "[0, 2, 1]"}});
    const std::string sum = node("CumSum", {there, scalar("int64", m_random.pick(3))},
                                 {{"exclusive", fmt::format("{}", m_random.pick(2))}, {"reverse", "0"}});
    return node("Transpose", {sum}, {{"perm", "[0, 2, 1]"}});
  }
  std::string padded() {
    const double by = 1 + m_random.pick(2), columns = static_cast<double>(m_network.columns);
    const std::string wide = node("Pad", {value(), integers({0, 0, by, 0, 0, by}), scalar("T", 0)},
                                  {{"mode", oneOf({"\"constant\"", "\"edge\"", "\"wrap\""})}});
    return node("Slice", {wide, integers({0}), integers({columns}), integers({2})});
  }

  MutantNetwork& m_network;
  MutantChoices& m_random;
  std::vector<std::string> m_values{"x", "y"};
  int m_made = 0;
};

}  // namespace

std::string MutantNetwork::text() const {
  return MutantText(*this).all();
}

MutantNetwork mutantBase(std::uint32_t seed) {
  MutantChoices random(seed);
  return mutantBase(seed, {1 + random.pick(3), 2 + random.pick(3), 2 + random.pick(3)});
}

MutantNetwork mutantBase(std::uint32_t seed, std::array<std::int64_t, 3> extents) {
  MutantChoices random(seed + 1);
  MutantNetwork network;
  network.seed = seed;
  std::tie(network.batch, network.rows, network.columns) = std::tuple(extents[0], extents[1], extents[2]);
  if (random.pick(2) == 0) {
    const bool isOfBoth = random.pick(2) == 0;
    network.symbolOfX = "N";
    network.asking.ranges = {{"x", {1, network.batch, 8}}};
    if (isOfBoth) network.symbolOfY = "N";
    if (isOfBoth) network.asking.ranges["y"] = {1, network.batch, 8};
  }
  MutantParts parts(network, random);
  for (int i = 3 + random.pick(4); i > 0; --i) parts.add();
  network.outputs = {parts.values().back(), parts.values()[parts.values().size() - 2]};
  static constexpr std::array kCompilers{"onnxruntime", "openvino", "tensorrt-rtx", "tensorrt-rtx"};
  network.asking.options.compiler = network.asking.options.target = random.any(kCompilers);
  return network;
}

}  // namespace fusescope::test
