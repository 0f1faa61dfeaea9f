// What exports of precision configurations say is read again as a recipe, of random networks whose nodes have odd names
// and of random directives: the same pins, the same types, the same bytes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "calibration/ranges.h"
#include "interchange/exports.h"
#include "interchange/precision_config.h"
#include "interchange/recipes/read_recipe.h"
#include "planning/directives_file.h"
#include "planning/structure.h"
#include "tests/mutation/dice.h"
#include "tests/property/seeds.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using mutation::Dice;
using property::Seeds;

/// A name with what some format gives a meaning to.
std::string oddName(Dice& dice, const std::string& op, std::size_t number) {
  static const std::vector<std::string> kOdd{",", "'", "''", "\"", ":",    ": ", " ", " + ",     "*",   "?", "(",  ")",
                                             "[", "]", "{",  "}",  "$",    "^",  "|", "\\",      "\\Z", "#", "=",  ";",
                                             "&", "/", ".",  "`",  "\n",   "\t", "é", "π",       "層",  "😀", "%s", "<>",
                                             "@", "!", "~",  "--", "\x7f", "-",  "+", "\\\"\\'", "op:"};
  std::string name = op + "_" + std::to_string(number);
  for (std::size_t parts = dice.below(3); parts > 0; --parts) {
    const std::string odd = dice.of(kOdd);
    name = dice.oneIn(2) ? name + odd : odd + name;
  }
  return name;
}

/// Products, sums, activations, norms and moves over [8, 8], each of late values.
std::shared_ptr<const Model> oddNetwork(Dice& dice) {
  testing::ModelBuilder b;
  const Dims dims{8, 8};
  std::vector<ValueId> values{b.input("x", dims), b.input("y, \"z\": 1", dims)};
  const std::size_t nodes = 4 + dice.below(20);
  const auto late = [&] { return values[values.size() - 1 - dice.below(std::min<std::size_t>(values.size(), 4))]; };
  for (std::size_t i = 0; i < nodes; ++i) {
    static const std::vector<std::string> kOperators{"MatMul",  "MatMul", "Add",       "Mul",      "Relu",   "Sigmoid",
                                                     "Softmax", "Exp",    "Transpose", "Identity", "Reshape"};
    const std::string op = dice.of(kOperators);
    std::vector<ValueId> inputs{late()};
    if (op == "MatMul") inputs.push_back(dice.oneIn(2) ? b.weight("w" + std::to_string(i), dims) : late());
    if (op == "Add" || op == "Mul") inputs.push_back(late());
    if (op == "Reshape") inputs.push_back(b.constant("s" + std::to_string(i), Tensor::ofInt64({8, 8})));
    values.push_back(b.node(op, oddName(dice, op, i), inputs, dims));
  }
  b.output(values.back());
  b.output(values[values.size() - 2]);
  return b.build();
}

struct ReadCounts {
  std::size_t networks = 0, plans = 0, directives = 0, caches = 0;
  std::map<std::string, std::size_t> read, refused;

  std::string text() const {
    std::string text;
    for (const auto& [format, count] : read)
      text += fmt::format(", {} of {} ({} refused)", count, format, refused.contains(format) ? refused.at(format) : 0);
    return text;
  }
};

/// Directives about types alone, which the formats can hold; all of one strictness.
PlanOptions typedOptions(Dice& dice, const Graph& graph) {
  static const std::vector<std::string> kTargets{"tensorrt-8", "tensorrt-10", "tensorrt-10", "tensorrt-11", "cpu:avx2"};
  static const std::vector<std::vector<DataType>> kPrecisions{{}, {DataType::F16}, {DataType::F16}, {DataType::BF16}};
  PlanOptions options{.target = dice.of(kTargets), .precisions = dice.of(kPrecisions)};
  const DataType low = options.precisions.empty() ? DataType::F16 : options.precisions[0];
  const Strictness strictness = dice.oneIn(2) ? Strictness::Obey : Strictness::Prefer;
  std::set<std::string> named;
  for (std::size_t i = 1 + dice.below(6); i > 0; --i) {
    const std::string& node = graph.node(dice.of(graph.order())).name;
    if (!named.insert(node).second) continue;
    options.directives.push_back({.kind = dice.oneIn(5) ? DirectiveKind::PinOutput : DirectiveKind::Pin,
                                  .pattern = node,
                                  .type = dice.oneIn(3) ? low : DataType::F32,
                                  .strictness = strictness});
  }
  assignIds(options.directives);
  return options;
}

/// "node = type" of each granted pin, and of each output type.
std::set<std::string> pinsOf(const PrecisionConfig& config) {
  std::set<std::string> pins;
  for (const NodePrecision& node : config.nodes) {
    if (node.compute)
      pins.insert(fmt::format("pin {} = {} ({})", node.node, name(*node.compute), name(config.strictness)));
    if (node.output)
      pins.insert(fmt::format("output {} = {} ({})", node.node, name(*node.output), name(config.strictness)));
  }
  return pins;
}

std::set<std::string> pinsOf(const Recipe& recipe) {
  std::set<std::string> pins;
  for (const Directive& directive : recipe.directives)
    pins.insert(fmt::format("{} {} = {} ({})", directive.kind == DirectiveKind::Pin ? "pin" : "output",
                            directive.pattern, name(directive.type), name(directive.strictness)));
  return pins;
}

std::string different(const std::set<std::string>& wanted, const std::set<std::string>& found) {
  for (const std::string& each : wanted)
    if (!found.contains(each)) return "lost: " + each;
  for (const std::string& each : found)
    if (!wanted.contains(each)) return "added: " + each;
  return {};
}

std::string checkPins(const Plan& plan, const std::string& format, ReadCounts& counts) {
  const auto file = findExporter(format)->write(plan, {.own = {{"trt-version", "10.3"}}});
  if (!file.ok()) {
    ++counts.refused[format];
    return {};
  }
  ++counts.read[format];
  const auto recipe = readRecipe(file.value().text, *plan.model);
  if (!recipe.ok()) return format + " is not read: " + recipe.error().text() + "\n" + file.value().text;
  const auto config = precisionConfig(plan);
  const std::set<std::string> found = pinsOf(recipe.value());
  if (!recipe.value().unmapped.empty())
    return format + ": " + recipe.value().unmapped[0].entry + ": " + recipe.value().unmapped[0].why;
  const std::string problem = different(pinsOf(config.value()), found);
  return problem.empty() ? problem : format + ": " + problem;
}

/// The first node that calculates in another type.
std::string otherType(const Plan& a, const Plan& b) {
  for (const NodeId id : a.graph().order()) {
    const NodeFacts& facts = a.structure->facts[id.index];
    if (!facts.floats || facts.moves || a.calculates[id.index] == b.calculates[id.index]) continue;
    return fmt::format("'{}' calculates in {}, read again in {}", a.graph().node(id).name, name(a.calculates[id.index]),
                       name(b.calculates[id.index]));
  }
  return {};
}

std::string checkTypes(const Plan& plan, const std::string& format, ReadCounts& counts) {
  const auto file = findExporter(format)->write(plan, {});
  if (!file.ok()) {
    ++counts.refused[format];
    return {};
  }
  ++counts.read[format];
  const auto recipe = readRecipe(file.value().text, *plan.model);
  if (!recipe.ok()) return format + " is not read: " + recipe.error().text() + "\n" + file.value().text;
  if (!recipe.value().unmapped.empty())
    return format + ": " + recipe.value().unmapped[0].entry + ": " + recipe.value().unmapped[0].why;
  PlanOptions options{.target = plan.options.target};
  adopt(recipe.value(), options);
  const auto again = makePlan(plan.model, options);
  if (!again.ok()) return format + ": " + again.error().text();
  const std::string other = otherType(plan, *again.value());
  return other.empty() ? other : format + ": " + other;
}

/// A plan made again from the exported directives has the same bytes, with every option that directives hold.
std::string checkDirectives(const std::shared_ptr<const Model>& model, PlanOptions options, Dice& dice,
                            ReadCounts& counts) {
  if (dice.oneIn(2)) options.workspaceBytes = 1 + static_cast<std::int64_t>(dice.below(1 << 20));
  if (dice.oneIn(2)) options.weightOnly = {dice.oneIn(2) ? DataType::I8 : DataType::I4, dice.oneIn(2) ? 0 : 32};
  const auto plan = makePlan(model, options);
  if (!plan.ok()) return {};
  const auto file = findExporter("directives")->write(*plan.value(), {});
  if (!file.ok()) return "directives: " + file.error().text();
  const auto read = directivesFileFromJson(Json::parse(file.value().text));
  if (!read.ok()) return "directives: " + read.error().text();
  PlanOptions again;
  adopt(read.value(), again);
  const auto other = makePlan(model, again);
  if (!other.ok()) return "directives: " + other.error().text();
  ++counts.directives;
  return toJson(*plan.value()).dump() == toJson(*other.value()).dump() ? std::string()
                                                                       : "a plan of exported directives is another";
}

/// Ranges as a cache and again: within half a step of float, and then the same bytes for good.
std::string checkCache(const Graph& graph, Dice& dice, ReadCounts& counts) {
  Ranges ranges;
  for (const ValueId id : graph.allValues()) {
    const double high =
        std::ldexp(1 + static_cast<double>(dice.below(1 << 20)) / (1 << 20), static_cast<int>(dice.below(40)) - 20);
    const double low = dice.oneIn(2) ? -high : dice.oneIn(2) ? 0 : -high / 3;
    ranges.edges.emplace(graph.value(id).name, EdgeRange{.range = {low, high}});
  }
  const auto text = tensorRtCacheText(ranges, 8601);
  const bool odd =
      std::ranges::any_of(ranges.edges, [](const auto& edge) { return edge.first.find('\n') != std::string::npos; });
  if (!text.ok()) return odd ? std::string() : text.error().text();
  const auto read = rangesFromTensorRtCache(text.value());
  if (!read.ok()) return read.error().text();
  ++counts.caches;
  if (read.value().edges.size() != ranges.edges.size()) return "a cache loses edges";
  for (const auto& [value, edge] : ranges.edges) {
    const auto found = read.value().edges.find(value);
    if (found == read.value().edges.end()) return "a cache loses the edge " + value;
    const double high = found->second.range.high;
    if (std::abs(high - edge.range.high) > edge.range.high * 1.2e-7 || found->second.range.low != -high)
      return "a cache changes the range of " + value;
  }
  const auto again = tensorRtCacheText(read.value(), 8601);
  return again.ok() && again.value().substr(again.value().find('\n')) == text.value().substr(text.value().find('\n'))
             ? std::string()
             : "a cache that was read is written otherwise";
}

TEST(ExportsReadAgain, SayTheSame) {
  const Seeds seeds = Seeds::asked(400);
  ReadCounts counts;
  const int bad = seeds.run([&](std::uint64_t seed) -> std::string {
    Dice dice(seed * 6151 + 3);
    const auto model = oddNetwork(dice);
    ++counts.networks;
    for (int turn = 0; turn < 3; ++turn) {
      const PlanOptions options = typedOptions(dice, *model->graph);
      const auto plan = makePlan(model, options);
      if (!plan.ok()) return plan.error().text();
      ++counts.plans;
      std::string problem = checkDirectives(model, options, dice, counts);
      for (const char* format : {"trtexec", "polygraphy"})
        if (problem.empty() && options.target != "tensorrt-11") problem = checkPins(*plan.value(), format, counts);
      for (const char* format : {"modelopt", "onnxruntime", "openvino"})
        if (problem.empty()) problem = checkTypes(*plan.value(), format, counts);
      if (!problem.empty()) return problem;
    }
    return checkCache(*model->graph, dice, counts);
  });
  for (const char* format : {"trtexec", "polygraphy", "modelopt", "onnxruntime", "openvino"})
    EXPECT_GT(counts.read[format], seeds.cases < 100 ? 0U : 50U) << format;
  fmt::print(
      "suite: exports read again: {} networks, {} plans, {} made again of directives, {} calibration caches{}, {} "
      "bad\n",
      counts.networks, counts.plans, counts.directives, counts.caches, counts.text(), bad);
}

}  // namespace
}  // namespace fusescope
