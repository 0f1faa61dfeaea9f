#include "tests/unit/cache/network_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compilers/openvino/openvino_options.h"
#include "compilers/probed/kept_job.h"
#include "compilers/probed/probed_kind.h"
#include "engine/kernels/input_check.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/kernel_store.h"
#include "engine/kernels/region_key.h"
#include "engine/tactics/build_memory.h"
#include "ir/graph.h"
#include "onnxlib/onnx_text.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "session/open_model.h"

namespace fusescope::test {
namespace {

const Backend& ownBackend() {
  static const Backend& backend = *findBackend("native");
  return backend;
}

KeyOfMeaning keyOfMeaning(std::string_view key, std::string_view meaning) {
  return {.key = hashText(key), .meaning = hashText(meaning)};
}

std::string textOf(const Tactic& tactic) {
  std::string text = tactic.name + " " + tactic.backend + " " + tactic.numerics.text();
  for (const auto* formats : {&tactic.inputs, &tactic.outputs}) {
    for (const MemoryFormat& format : *formats) text += " " + format.text();
    text += " ->";
  }
  return text;
}

std::vector<InputOverride> rangesOf(const MutantNetwork& network) {
  std::vector<InputOverride> all;
  for (const auto& [name, range] : network.asking.ranges) {
    const auto at = [&](std::size_t i) { return Dims{range[i], network.rows, network.columns}; };
    all.push_back({.name = network.prefix + name, .fixed = {}, .min = at(0), .opt = at(1), .max = at(2), .dtype = {}});
  }
  return all;
}

PlanOptions optionsOf(const MutantNetwork& network) {
  PlanOptions options = network.asking.options;
  for (Directive& directive : options.directives) directive.pattern = network.prefix + directive.pattern;
  return options;
}

AnswerContext contextOf(const MutantAsking& asking) {
  Json environment{{"packages", {{"compiler", asking.package}}},
                   {"machine", {{"driver", asking.driver}, {"processor", asking.processor}}}};
  return {.about = "a mutant",
          .compiler = asking.options.compiler,
          .version = asking.version,
          .environment = std::move(environment),
          .opened = {},
          .code = {},
          .start = {},
          .isWitnessValid = {}};
}

/// Returns a text of everything that the other compiler is told, and of what it is.
std::string askedText(const Plan& plan, const MutantAsking& asking) {
  std::string text = meaningOf(plan.graph());
  // OpenVINO is told one type, and which nodes stay in f32 where that is planned; the option `hint` leaves all nodes
  // free.
  const bool isHinted = asking.options.compiler == "openvino",
             isGiven = asking.options.compilerOptions.contains("hint");
  if (isHinted) text += fmt::format("{}", name(openvinoHint(plan)));
  for (const PrecisionGrant& grant : plan.precisionMap)
    text += isHinted && (isGiven || grant.granted != DataType::F32) ? " free" : fmt::format(" {}", name(grant.granted));
  text += fmt::format("\n{} {} {} {} {} {} {} {}, {} threads, {} bytes", asking.options.compiler, asking.version,
                      asking.package, asking.code, asking.driver, asking.processor, asking.before,
                      asking.options.target, asking.threads, asking.options.workspaceBytes);
  for (const auto& [name, value] : asking.options.compilerOptions)
    if (!isHinted || name != "hint") text += fmt::format(" {}={}", name, value);
  if (asking.options.compiler == "tensorrt-rtx")
    for (const auto& [name, range] : asking.ranges) text += fmt::format(" {} {}", name, fmt::join(range, ".."));
  return text;
}

}  // namespace

std::optional<Kept> HeldStore::find(std::string_view kind, std::string_view key) {
  const auto found = m_kept.find({std::string(kind), std::string(key)});
  return found == m_kept.end() ? std::nullopt : std::optional(found->second);
}

bool HeldStore::keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) {
  m_kept[{facts.kind, std::string(key)}] = {.bytes = std::string(bytes), .facts = facts, .madeAt = 1, .where = "here"};
  return true;
}

std::optional<NetworkKeys> KeyMaker::keysOf(const MutantNetwork& network) {
  const auto bytes = onnxlib::onnxTextToBytes(network.text());
  if (!bytes.ok()) return std::nullopt;
  const auto path = m_folder->write(fmt::format("network{}.onnx", m_written++), bytes.value());
  const auto model = openModel(path, rangesOf(network));
  if (!model.ok()) return std::nullopt;
  const PlanOptions options = optionsOf(network);
  const auto own =
      makePlan(model.value(), {.directives = options.directives, .workspaceBytes = options.workspaceBytes});
  const auto other = makePlan(model.value(), options);
  if (!own.ok() || !other.ok()) return std::nullopt;
  const auto extents = buildExtents(*own.value(), {});
  if (!extents.ok()) return std::nullopt;

  const ProbedKind& kind = *findProbedKind(options.compiler);
  auto handed = makeCompilerInput(other.value(), kind.inputTypesFor(*other.value()), {});
  if (!handed.ok()) return std::nullopt;
  const auto asked = kind.requestOptions(handed.value(), {.threads = network.asking.threads});
  if (!asked.ok()) return std::nullopt;
  const ProbeRequest request{.json = {{"op", "compile"}, {"options", asked.value()}}, .files = filesOf(handed.value())};
  const Json before = network.asking.before.empty() ? Json() : Json(network.asking.before);
  const auto key = answerKey(m_store, contextOf(network.asking), request,
                             {.code = {{"compiler", network.asking.code}}, .after = before}, {});
  if (!key.ok()) return std::nullopt;
  NetworkKeys keys{.plan = own.value(),
                   .regions = {},
                   .network = keyOfMeaning(keyBytes(key.value()), askedText(*other.value(), network.asking))};
  addRegions(*keys.plan, extents.value(), network.asking.threads, keys);
  std::ranges::sort(keys.regions);
  return keys;
}

void KeyMaker::addRegions(const Plan& plan, const std::map<std::string, Dims>& extents, int threads,
                          NetworkKeys& keys) {
  const auto requests = KernelRequests::create(plan, extents, threads);
  if (!requests.ok()) return;
  for (const FusedNode& fused : plan.fusedNodes) {
    if (hasBody(plan.graph().node(fused.root))) continue;  // only what is in its bodies is compiled
    if (const auto request = requests.value().of(fused); request.ok()) keys.regions.push_back(keysOf(request.value()));
  }
  for (const CoverBody& body : plan.bodies) addRegions(plannedBody(body), {}, threads, keys);
}

const KeyMaker::Made& KeyMaker::madeOf(const KernelRequest& request, const std::string& everything) {
  const auto [entry, isNew] = m_made.try_emplace(hashText(everything));
  Made& made = entry->second;
  if (!isNew) return made;
  const auto tactics = ownBackend().tactics(request);
  for (const Tactic& tactic : tactics) made.tactics += textOf(tactic) + "\n";
  if (tactics.empty()) return made;
  made.first = tactics.front();
  const auto code = ownBackend().compile(request, made.first);
  if (!code.ok()) return made;
  made.embedded.assign(code.value()->embedded().begin(), code.value()->embedded().end());
  made.code = fmt::format("{} bytes", code.value()->workspaceBytes());
  for (const Packing& packing : code.value()->packings())
    made.code += fmt::format(" {}[{}]", packing.form, fmt::join(packing.weightSlots, ","));
  return made;
}

bool isRightBehind(const std::shared_ptr<const Plan>& before, const std::shared_ptr<const Plan>& plan) {
  KernelStore kernels, own;
  BuildOptions options{.threads = 1, .measureTactics = false, .kernels = &kernels};
  options.memory = std::make_shared<BuildMemory>();
  const auto former = buildEngine(before, options);
  const auto engine = buildEngine(plan, options);
  const auto alone = buildEngine(plan, {.threads = 1, .measureTactics = false, .kernels = &own});
  if (!former.ok() || !alone.ok()) return engine.ok() == alone.ok();
  EXPECT_TRUE(engine.ok()) << engine.error().text();
  if (!engine.ok()) return false;
  const auto inputs = randomInputs(*plan);
  const auto actual = engine.value()->run(inputs), expected = alone.value()->run(inputs);
  if (!actual.ok() || !expected.ok()) return actual.ok() == expected.ok();
  return std::ranges::equal(actual.value().outputs, expected.value().outputs,
                            [](const auto& a, const auto& b) { return a.second.identical(b.second); });
}

RegionKeys KeyMaker::keysOf(const KernelRequest& request) {
  const std::string everything = meaningOf(request, [](const Tensor&, std::size_t) { return true; });
  const Made& made = madeOf(request, everything);
  const std::string region = regionKey(request), structure = structureOf(request);
  const auto isEmbedded = [&](std::size_t slot) { return std::ranges::count(made.embedded, slot) > 0; };
  std::string code = codeKey(ownBackend(), request, made.first);
  for (std::size_t slot = 0; slot < request.weightSlots.size(); ++slot) {
    const Tensor& constant = request.constants.at(request.weightSlots[slot]);
    if (isEmbedded(slot)) code += hashBytes({constant.bytes(), constant.byteSize()}).hex();
  }
  const std::string embedded = meaningOf(request, [&](const Tensor&, std::size_t slot) { return isEmbedded(slot); });
  static const TimingContext kContext = timingContext(*request.plan, ownBackend(), 1);
  TimingContext context = kContext;
  context.threads = request.threads;
  const std::string first = textOf(made.first);
  return {.region = keyOfMeaning(region, structure),
          .request = keyOfMeaning(requestKey(ownBackend(), request, region), everything + made.tactics),
          .code = keyOfMeaning(code, embedded + first + made.code),
          .timing = keyOfMeaning(timingKey(region, made.first, context),
                                 fmt::format("{}{} {}", structure, first, request.threads)),
          .tactics = keyOfMeaning(fmt::format("{} {}", request.threads, region), made.tactics)};
}

}  // namespace fusescope::test
