#include <cmath>

#include "base/json_fields.h"
#include "ir/graph.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {
namespace {

const std::vector<std::string_view> kCertaintyNames = {name(Certainty::Verified), name(Certainty::Named),
                                                       name(Certainty::Derived), name(Certainty::Guessed)};
const std::vector<std::string_view> kFateNames = {name(Fate::Kernel),      name(Fate::Folded), name(Fate::Removed),
                                                  name(Fate::View),        name(Fate::Merged), name(Fate::Fallback),
                                                  name(Fate::NotDisclosed)};
const std::vector<std::string_view> kPinResultNames = {name(PinResult::Obeyed),        name(PinResult::Ignored),
                                                       name(PinResult::Widened),       name(PinResult::Moved),
                                                       name(PinResult::WithoutKernel), name(PinResult::NotDisclosed)};
const std::vector<std::string_view> kPinCauseNames = {name(PinCause::None),          name(PinCause::NotApplied),
                                                      name(PinCause::OnlyPreferred), name(PinCause::TypeNotEnabled),
                                                      name(PinCause::NoTactic),      name(PinCause::TargetRefuses),
                                                      name(PinCause::WithoutKernel), name(PinCause::InRegion),
                                                      name(PinCause::SharesKernel),  name(PinCause::NotDisclosed)};
const std::vector<std::string_view> kConversionKinds = {"reformat", "cast"};

/// A limit for what a file can make this program allocate; no network has more kernels.
constexpr std::size_t kMostKernels = 1 << 18;

Diagnostic badReadBack(std::string problem, std::string field = {}) {
  return {.message = std::move(problem), .where = {.attribute = std::move(field)}, .help = "See planning/FORMAT.md."};
}

Result<DataType> typeFromJson(const Json& json) {
  const auto type = json.is_string() ? dataTypeFromName(json.get<std::string>()) : std::nullopt;
  if (!type) return badReadBack("is not a type");
  return *type;
}

Result<CompilerIdentity> compilerFromJson(const Json& json) {
  CompilerIdentity compiler;
  JsonFields fields(json);
  fields.require("name").read("name", compiler.name).read("version", compiler.version);
  fields.read("environment", compiler.environment).read("options", compiler.options);
  return fields.result(std::move(compiler));
}

/// Reads a compiler's report from the keys that readBackPlan() does not derive itself.
class ReadBackReader {
 public:
  ReadBackReader(const Json& json, const Plan& asked) : m_json(json), m_asked(asked), m_graph(asked.graph()) {}

  Result<ReadBack> read() const {
    if (m_json.contains("kernels") && m_json["kernels"].size() > kMostKernels)
      return badReadBack("contains more than " + std::to_string(kMostKernels) + " kernels", "kernels");
    ReadBack readBack;
    std::vector<std::pair<NodeId, Fate>> fates;
    JsonFields fields(m_json);
    for (const char* key : {"compiler", "kernels", "nodes", "conversions", "pins", "decisions"}) fields.require(key);
    fields.parse("compiler", readBack.compiler, compilerFromJson);
    fields.parseList("kernels", readBack.kernels, [&](const Json& entry) { return kernel(entry); });
    fields.parseList("nodes", fates, [&](const Json& entry) { return fate(entry); });
    fields.parseList("conversions", readBack.conversions, [&](const Json& entry) { return conversion(entry); });
    fields.parseList("pins", readBack.pins, [&](const Json& entry) { return pin(entry); });
    fields.parseList("decisions", readBack.decisions, decisionFromJson);
    if (m_json.contains("placement")) {
      readBack.placement.emplace();
      fields.parse("placement", *readBack.placement, [&](const Json& entry) { return placement(entry); });
    }
    readBack.fates.insert(fates.begin(), fates.end());
    if (!fields.error()) keepTheirs(readBack.decisions);
    return fields.result(std::move(readBack));
  }

 private:
  Result<NodeId> node(const Json& json) const {
    const auto id = json.is_string() ? m_graph.findNode(json.get_ref<const std::string&>()) : std::nullopt;
    if (!id)
      return badReadBack(json.dump(-1, ' ', false, Json::error_handler_t::replace) + " is not a node of the network");
    return *id;
  }

  Result<ValueId> value(const Json& json) const {
    const auto id = json.is_string() ? m_graph.findValue(json.get_ref<const std::string&>()) : std::nullopt;
    if (!id)
      return badReadBack(json.dump(-1, ' ', false, Json::error_handler_t::replace) + " is not a tensor of the network");
    return *id;
  }

  /// Reads the field "node" of an entry about a node.
  void readNode(JsonFields& fields, NodeId& into) const {
    fields.require("node").parse("node", into, [&](const Json& json) { return node(json); });
  }
  void readValue(JsonFields& fields, ValueId& into) const {
    fields.parse("value", into, [&](const Json& json) { return value(json); });
  }

  Result<std::pair<NodeId, Certainty>> heldNode(const Json& json) const {
    std::pair<NodeId, Certainty> held{NodeId(), Certainty::Guessed};
    JsonFields fields(json);
    readNode(fields, held.first);
    fields.readName("certainty", kCertaintyNames, held.second);
    return whole(fields, held, held.first);
  }

  Result<KernelValue> kernelValue(const Json& json) const {
    KernelValue moved;
    JsonFields fields(json);
    readValue(fields, moved.value);
    fields.parse("type", moved.type, typeFromJson).read("format", moved.format);
    return fields.result(std::move(moved));
  }

  Result<ReadBackKernel> kernel(const Json& json) const {
    ReadBackKernel kernel;
    const auto moved = [&](const Json& entry) { return kernelValue(entry); };
    JsonFields fields(json);
    fields.require("name").read("name", kernel.name).read("kind", kernel.kind).read("region", kernel.region);
    fields.parseList("nodes", kernel.nodes, [&](const Json& entry) { return heldNode(entry); });
    fields.parseList("inputs", kernel.inputs, moved).parseList("outputs", kernel.outputs, moved);
    fields.parse("compute", kernel.compute, typeFromJson).read("once", kernel.once).read("ours", kernel.isOurs);
    fields.read("converts", kernel.converts).read("optimiser", kernel.optimiser);
    fields.readNumber("ms", kernel.ms);
    if (!fields.error() && kernel.ms && !(std::isfinite(*kernel.ms) && *kernel.ms >= 0))
      return badReadBack("is not a time", "ms");
    return fields.result(std::move(kernel));
  }

  Result<std::pair<NodeId, Fate>> fate(const Json& json) const {
    std::pair<NodeId, Fate> fate{NodeId(), Fate::NotDisclosed};
    JsonFields fields(json);
    readNode(fields, fate.first);
    fields.readName("fate", kFateNames, fate.second);
    return whole(fields, fate, fate.first);
  }

  Result<ReadBackConversion> conversion(const Json& json) const {
    ReadBackConversion conversion;
    std::size_t kind = 0;
    JsonFields fields(json);
    readValue(fields, conversion.value);
    fields.read("from", conversion.from).read("to", conversion.to).read("kernel", conversion.kernel);
    fields.readName("kind", kConversionKinds, kind);
    conversion.isCast = kind == 1;
    return fields.result(std::move(conversion));
  }

  Result<ReadBackPin> pin(const Json& json) const {
    ReadBackPin pin;
    DataType granted = DataType::Undefined;
    JsonFields fields(json);
    readNode(fields, pin.node);
    fields.parse("asked", pin.asked, typeFromJson).parse("granted", granted, typeFromJson);
    fields.readName("result", kPinResultNames, pin.result).readName("cause", kPinCauseNames, pin.cause);
    fields.read("why", pin.why).parseList("cut", pin.cut, [&](const Json& entry) { return value(entry); });
    if (granted != DataType::Undefined) pin.granted = granted;
    const NodeId node = pin.node;
    return whole(fields, std::move(pin), node);
  }

  Result<UnplacedLayer> unplacedLayer(const Json& json) const {
    UnplacedLayer layer;
    JsonFields fields(json);
    fields.require("layer").read("layer", layer.layer).read("why", layer.why);
    fields.parseList("nearest", layer.nearest, [&](const Json& entry) { return node(entry); });
    return fields.result(std::move(layer));
  }

  Result<Placement> placement(const Json& json) const {
    Placement placement;
    JsonFields fields(json);
    fields.require("layers").read("layers", placement.layers).read("placed", placement.placed);
    fields.read("conversions", placement.conversions).read("files", placement.files);
    fields.parseList("unplaced", placement.unplaced, [&](const Json& entry) { return unplacedLayer(entry); });
    fields.read("device", placement.device).read("times", placement.times);
    fields.readNumber("latency_ms", placement.latencyMs).readCount("runs", placement.runs);
    return fields.result(std::move(placement));
  }

  /// Returns what was read about `node`, unless the file names none.
  template <class T>
  static Result<T> whole(const JsonFields& fields, T read, NodeId node) {
    if (!fields.error() && !node.valid()) return badReadBack("contains no name of a node", "node");
    return fields.result(std::move(read));
  }

  /// Keeps the compiler's own decisions. They follow those of the plan that was asked for, which may have been made
  /// anew with other decisions.
  void keepTheirs(std::vector<Decision>& all) const {
    const Json::const_iterator asked = m_json.find("asked");
    const bool hasDecisions = asked != m_json.end() && asked->is_object() && asked->contains("decisions");
    const std::size_t before = hasDecisions ? (*asked)["decisions"].size() : m_asked.decisions.size();
    const std::size_t now = m_asked.decisions.size();
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(before, all.size())));
    if (before == now) return;
    for (Decision& decision : all) {
      std::erase_if(decision.evidence, [&](std::uint32_t index) { return index < before; });
      for (std::uint32_t& index : decision.evidence) index = static_cast<std::uint32_t>(index - before + now);
    }
  }

  const Json& m_json;
  const Plan& m_asked;
  const Graph& m_graph;
};

}  // namespace

Result<std::shared_ptr<const ReadBackPlan>> readBackPlanFromJson(const Json& json, std::shared_ptr<const Plan> asked) {
  const ReadBack readBack = TRY(ReadBackReader(json, *asked).read());
  return readBackPlan(std::move(asked), readBack);
}

}  // namespace fusescope
