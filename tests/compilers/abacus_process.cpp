// The process of abacus: it says which nodes it takes, compiles a network, runs and times it. A line of JSON on
// standard input is a question, one on standard output the answer. It ends when its standard input does, whatever it is
// doing, and removes the folder that it was started with.
// FUSESCOPE_TEST_ABACUS plants a fault: "dies", "exits", "hangs" or "babbles", of one question alone "dies_in_run".
// Where it hangs, it writes the file that FUSESCOPE_TEST_ABACUS_HANGS names.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "base/json.h"
#include "engine/engine.h"
#include "interchange/npz.h"
#include "ir/graph.h"

namespace fusescope::abacus {
namespace {

constexpr const char* kRefused = "Softmax";        ///< that it does not take it says when it is asked
constexpr const char* kTooHard = "Erf";            ///< that it cannot compile it only when it compiles
constexpr const char* kUndisclosed = "Transpose";  ///< of which it says nothing
constexpr const char* kUntyped = "Mul";            ///< of whose kernels it does not say the types
constexpr const char* kCheap = "Relu";             ///< is calculated again where two read it

bool isOneOf(const Node& node, std::initializer_list<const char*> operators) {
  return std::ranges::any_of(operators, [&](const char* op) { return node.is(op); });
}

/// Lines of standard input. Where that ends the process does, and its folder goes: nobody is left to work for.
class Questions {
 public:
  explicit Questions(const std::filesystem::path& folder) {
    std::thread([this, folder] {
      for (std::string line; std::getline(std::cin, line);) {
        const std::lock_guard lock(m_mutex);
        m_lines.push_back(std::move(line));
        m_came.notify_one();
      }
      std::error_code gone;
      if (!folder.empty()) std::filesystem::remove_all(folder, gone);
      std::_Exit(0);
    }).detach();
  }
  std::string next() {
    std::unique_lock lock(m_mutex);
    m_came.wait(lock, [&] { return !m_lines.empty(); });
    std::string line = std::move(m_lines.front());
    m_lines.pop_front();
    return line;
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_came;
  std::deque<std::string> m_lines;
};

/// The kernels of a network: neighbours in pairs where the second alone reads the first, and in front of each node what
/// is calculated again for it.
class Beads {
 public:
  struct Kernel {
    std::vector<std::pair<NodeId, std::string_view>> nodes{};  ///< each with how it is known that it is there
    NodeId first{};                                            ///< that gives it its kind
  };

  static constexpr std::string_view kAgain = "guessed";  ///< of what is calculated for others, too

  explicit Beads(const Plan& plan) : m_graph(plan.graph()) {
    for (const NodeId id : m_graph.order()) {
      if (!isCounted(id) || isSharedByTwo(id) || m_held.contains(id)) continue;
      Kernel kernel{.first = id};
      add(kernel, id, "named");
      if (const NodeId second = partner(id); second.valid()) add(kernel, second, "derived");
      m_kernels.push_back(std::move(kernel));
    }
  }

  const std::vector<Kernel>& kernels() const { return m_kernels; }
  static bool isView(const Node& node) { return isOneOf(node, {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}); }
  std::string nameOf(const Kernel& kernel) const {
    std::string text;
    for (const auto& [node, certainty] : kernel.nodes) text += (text.empty() ? "" : ", ") + m_graph.node(node).name;
    return "beads(" + text + ")";
  }
  /// The first kernel that holds `node`; null: none does.
  const Kernel* holder(NodeId node) const {
    const auto holds = [&](const Kernel& kernel) {
      return std::ranges::any_of(kernel.nodes, [&](const auto& held) { return held.first == node; });
    };
    const auto found = std::ranges::find_if(m_kernels, holds);
    return found == m_kernels.end() ? nullptr : &*found;
  }

 private:
  bool isCounted(NodeId id) const { return !isView(m_graph.node(id)) && !m_graph.node(id).is(kUndisclosed); }

  /// Read by just two nodes, which both have a kernel and are not shared themselves.
  bool isSharedByTwo(NodeId id) const {
    const Node& node = m_graph.node(id);
    if (!node.is(kCheap)) return false;
    const Value& value = m_graph.value(node.outputs.front());
    const auto hasKernel = [&](NodeId reader) { return isCounted(reader) && !m_graph.node(reader).is(kCheap); };
    return value.consumers.size() == 2 && !m_graph.isOutput(value.id) &&
           std::ranges::all_of(value.consumers, hasKernel);
  }

  void add(Kernel& kernel, NodeId id, std::string_view certainty) {
    for (const ValueId value : operands(m_graph.node(id))) {
      const NodeId producer = value.valid() ? m_graph.value(value).producer : NodeId();
      const bool isThere = std::ranges::any_of(kernel.nodes, [&](const auto& held) { return held.first == producer; });
      if (producer.valid() && !isThere && isSharedByTwo(producer)) kernel.nodes.emplace_back(producer, kAgain);
    }
    kernel.nodes.emplace_back(id, certainty);
    m_held.insert(id);
  }

  /// The only reader of the only result of `id`, if it has no kernel yet.
  NodeId partner(NodeId id) const {
    const Node& node = m_graph.node(id);
    if (node.outputs.size() != 1 || !node.outputs.front().valid()) return {};
    const Value& value = m_graph.value(node.outputs.front());
    if (value.consumers.size() != 1 || m_graph.isOutput(value.id)) return {};
    const NodeId reader = value.consumers.front();
    return isCounted(reader) && !isSharedByTwo(reader) && !m_held.contains(reader) ? reader : NodeId();
  }

  const Graph& m_graph;
  std::vector<Kernel> m_kernels;
  std::set<NodeId> m_held;
};

/// What was made of a network, as it is told.
class Telling {
 public:
  Telling(const Plan& plan, const Beads& beads) : m_plan(plan), m_graph(plan.graph()), m_beads(beads) {}

  Json all() const {
    Json kernels = Json::array();
    kernels.push_back({{"name", "prepare weights"}, {"kind", "prepare"}, {"once", true}});
    for (const Beads::Kernel& kernel : m_beads.kernels()) kernels.push_back(kernelJson(kernel));
    Json fates = Json::object();
    for (const NodeId id : m_graph.order())
      if (const Node& node = m_graph.node(id); m_beads.holder(id) == nullptr)
        fates[node.name] = Beads::isView(node) ? "view" : "not_disclosed";
    return {{"kernels", std::move(kernels)},
            {"fates", std::move(fates)},
            {"conversions", conversionsJson()},
            {"options", {{"wires", "10"}}}};
  }

 private:
  bool isProduct(const Beads::Kernel& kernel) const {
    return isOneOf(m_graph.node(kernel.first), {"MatMul", "Gemm", "Conv"});
  }

  Json valueJson(ValueId value, bool isTyped) const {
    return {{"value", m_graph.value(value).name},
            {"type", isTyped ? Json(toText(m_plan.storedType(value))) : Json(nullptr)},
            {"format", "rows"}};
  }

  Json kernelJson(const Beads::Kernel& kernel) const {
    const FusedNode& planned = *m_plan.fusedNodeOf(kernel.first);
    const DataType compute = m_plan.calculates[kernel.first.index];
    bool isTyped = true;
    std::set<NodeId> inside;
    Json nodes = Json::array(), reads = Json::array(), writes = Json::array();
    for (const auto& [id, certainty] : kernel.nodes) {
      isTyped = isTyped && !m_graph.node(id).is(kUntyped);
      inside.insert(id);
      nodes.push_back({{"node", m_graph.node(id).name}, {"certainty", certainty}});
    }
    const auto isInside = [&](NodeId id) { return id.valid() && inside.contains(id); };
    std::set<ValueId> moved;
    for (const auto& [id, certainty] : kernel.nodes) {
      for (const ValueId value : operands(m_graph.node(id)))
        if (value.valid() && !m_graph.isConstant(value) && !isInside(m_graph.value(value).producer) &&
            moved.insert(value).second)
          reads.push_back(valueJson(value, isTyped));
      for (const ValueId value : m_graph.node(id).outputs)
        if (value.valid() && certainty != Beads::kAgain &&
            (m_graph.isOutput(value) || !std::ranges::all_of(m_graph.value(value).consumers, isInside)))
          writes.push_back(valueJson(value, isTyped));
    }
    return {{"name", m_beads.nameOf(kernel)},
            {"kind", planned.root == kernel.first ? planned.kind : "beads"},
            {"nodes", std::move(nodes)},
            {"reads", std::move(reads)},
            {"writes", std::move(writes)},
            {"compute", isTyped && compute != DataType::Undefined ? Json(toText(compute)) : Json(nullptr)},
            {"region", isProduct(kernel) ? "frame of products" : ""}};
  }

  /// What the first product reads stands on its side; what the plan converts is converted.
  Json conversionsJson() const {
    Json conversions = Json::array();
    for (const Beads::Kernel& kernel : m_beads.kernels()) {
      if (!isProduct(kernel)) continue;
      conversions.push_back({{"value", m_graph.value(m_graph.node(kernel.first).inputs.front()).name},
                             {"from", "rows"},
                             {"to", "columns"},
                             {"kernel", m_beads.nameOf(kernel)}});
      break;
    }
    for (const PlannedCast& cast : m_plan.casts)
      conversions.push_back({{"value", m_graph.value(cast.value).name},
                             {"from", toText(cast.from)},
                             {"to", toText(cast.to)},
                             {"cast", true}});
    return conversions;
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const Beads& m_beads;
};

class Abacus {
 public:
  Result<Json> answer(const Json& question) {
    const auto op = question.at("op").get<std::string>();
    if (op == "support") return support(question);
    if (op == "compile") return compile(question);
    if (op == "run") return run(question);
    if (op == "time") return time(question);
    return Diagnostic{.message = fmt::format("abacus does not know what '{}' is", op)};
  }

 private:
  static Result<Json> support(const Json& question) {
    Json support = Json::array();
    for (const Json& node : question.at("nodes")) {
      const auto op = node.at("operator").get<std::string>();
      const bool isRefused = op == kRefused;
      support.push_back({{"node", node.at("name")},
                         {"taken", op == kUndisclosed ? Json(nullptr) : Json(!isRefused)},
                         {"code", isRefused ? "validate.compiler_refused" : ""},
                         {"message", isRefused ? fmt::format("there are no beads for {}", op) : ""},
                         {"found_by", "parser"}});
    }
    return Json{{"support", std::move(support)}};
  }

  Result<Json> compile(const Json& question) {
    const EngineFile file = TRY(openEngineFile(question.at("network").get<std::string>()));
    for (const NodeId id : file.plan->graph().order())
      if (const Node& node = file.plan->graph().node(id); node.is(kTooHard))
        return Diagnostic{.message = "no bead can be moved by a fraction of an error", .where = {.node = node.name}};
    m_engine = TRY(loadEngine(file, {.backend = "reference",
                                     .threads = question.at("threads").get<int>(),
                                     .measureTactics = false,
                                     .shapes = question.at("extents").get<std::map<std::string, Dims>>()}));
    m_beads.emplace(m_engine->plan());
    return Telling(m_engine->plan(), *m_beads).all();
  }

  Result<Json> run(const Json& question) {
    const RunResult result = TRY(m_engine->run(TRY(readNpz(question.at("inputs").get<std::string>()))));
    TRY(writeNpz(question.at("outputs").get<std::string>(), result.outputs));
    return Json::object();
  }

  /// Measured layer by layer of the plan; a kernel's time is that of the layers whose main nodes it holds.
  Result<Json> time(const Json& question) {
    const auto inputs = TRY(readNpz(question.at("inputs").get<std::string>()));
    const TimeReport report = TRY(m_engine->time(inputs, {.seconds = question.at("seconds").get<double>(),
                                                          .warmupSeconds = question.at("warmup").get<double>(),
                                                          .perLayer = question.at("per_layer").get<bool>()}));
    std::map<std::string, double> kernels;
    for (const StepTime& layer : report.layers) {
      if (!layer.fused.valid() || !layer.medianMs) continue;
      if (const auto* holder = m_beads->holder(m_engine->plan().fusedNodes[layer.fused.index].root))
        kernels[m_beads->nameOf(*holder)] += *layer.medianMs;
    }
    const auto orNull = [](const std::optional<double>& ms) { return ms ? Json(*ms) : Json(nullptr); };
    return Json{{"median_ms", orNull(report.medianMs)},
                {"min_ms", orNull(report.minMs)},
                {"p95_ms", orNull(report.p95Ms)},
                {"p99_ms", orNull(report.p99Ms)},
                {"samples", report.samples},
                {"quiet", report.quiet},
                {"unavailable", report.unavailableReason},
                {"kernels", kernels}};
  }

  std::unique_ptr<Engine> m_engine;
  std::optional<Beads> m_beads;
};

/// Does what FUSESCOPE_TEST_ABACUS says of this question; true: it was answered by that.
bool isFaulty(const std::string& op) {
  const char* set = std::getenv("FUSESCOPE_TEST_ABACUS");
  const std::string fault = set != nullptr ? set : "";
  const auto is = [&](const std::string& what) { return fault == what || fault == what + "_in_" + op; };
  if (is("dies")) ::raise(SIGKILL);
  if (is("exits")) std::_Exit(3);
  if (is("hangs")) {
    if (const char* mark = std::getenv("FUSESCOPE_TEST_ABACUS_HANGS")) std::ofstream(mark) << op;
    while (true) ::pause();
  }
  if (!is("babbles")) return false;
  std::cout << "click, clack, click\n" << std::flush;
  return true;
}

Json answerTo(Abacus& abacus, const Json& question) {
  try {
    auto answer = abacus.answer(question);
    if (answer.ok()) return std::move(answer).value();
    return {{"error", {{"message", answer.error().message}, {"node", answer.error().where.node}}}};
  } catch (const std::exception& error) {
    return {{"error", {{"message", error.what()}}}};
  }
}

}  // namespace
}  // namespace fusescope::abacus

int main(int count, char** arguments) {
  using namespace fusescope;
  abacus::Questions questions(count > 1 ? arguments[1] : "");
  abacus::Abacus abacus;
  while (true) {
    const Json question = Json::parse(questions.next());
    if (abacus::isFaulty(question.at("op").get<std::string>())) continue;
    std::cout << abacus::answerTo(abacus, question).dump() << '\n' << std::flush;
  }
}
