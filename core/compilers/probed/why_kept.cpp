#include "compilers/probed/why_kept.h"

#include <algorithm>

#include "compilers/compile_network.h"
#include "compilers/network_parts.h"
#include "compilers/probed/handed_values.h"
#include "engine/input_check.h"
#include "probe/frames.h"

namespace fusescope {
namespace {

/// How long a question about keys waits until the code of the compiler is hashed, because the keys contain the hashes.
constexpr std::chrono::minutes kMostWait{10};

void addDifferences(const std::string& field, const Json& here, const Json& nearest,
                    std::vector<KeyDifference>& differences) {
  if (here == nearest) return;
  if (!here.is_object() || !nearest.is_object()) {
    differences.push_back({.field = field, .here = here, .nearest = nearest});
    return;
  }
  const std::string before = field.empty() ? field : field + ".";
  for (const auto& [name, value] : here.items())
    addDifferences(before + name, value, nearest.contains(name) ? nearest[name] : Json(), differences);
  for (const auto& [name, value] : nearest.items())
    if (!here.contains(name)) addDifferences(before + name, Json(), value, differences);
}

class KeptQuestions {
 public:
  KeptQuestions(const ProbedCompiler& compiler, DiskStore& store, const BuildOptions& options)
      : m_compiler(compiler), m_store(store), m_options(options) {
    for (StoreEntry& entry : store.entries(kAnswerKind)) {
      Json key = Json::parse(entry.key, nullptr, false);
      if (key.is_object()) m_kept.emplace_back(std::move(entry), std::move(key));
    }
  }

  Result<WhyAllKept> run(std::shared_ptr<const Plan> plan) {
    if (m_compiler.kind().saysSupport() && plan->options.support == nullptr) {
      const auto about = TRY(planToAsk(plan, m_options.stop));
      CompilerInput network = TRY(makeCompilerInput(about, m_compiler.kind().inputTypesFor(*about), m_options.stop));
      const Json asked = TRY(m_compiler.kind().requestOptions(network, {}));
      TRY(add("support", {.json = {{"op", "support"}, {"options", asked}}, .files = filesOf(network)}));
      if (m_all.questions.back().found) plan = TRY(planSupported(m_compiler, plan, m_options.stop));
    }
    const auto extents = TRY(buildExtents(*plan, m_options.shapes));
    for (const Segment& segment : plan->segments)
      if (segment.kind == SegmentKind::Accelerated) TRY(addSegment(plan, segment, extents));
    return std::move(m_all);
  }

 private:
  /// Adds the question that ProbedEngine would ask.
  Status addSegment(const std::shared_ptr<const Plan>& plan, const Segment& segment,
                    const std::map<std::string, Dims>& extents) {
    const Part part = TRY(segmentPart(plan, segment, extents, m_options.stop));
    BuildOptions options = m_options;
    options.shapes = plan->segments.size() == 1 ? extents : std::map<std::string, Dims>();
    const Lowered lowered = TRY(m_compiler.lower(part.plan, options));
    Json request{{"op", "compile"}, {"options", lowered.options}};
    const NamesInFile inputs = handedInputs(*lowered.network);
    const bool compares = !options.verifyOn.empty() && std::ranges::all_of(inputs, [&](const auto& input) {
      return options.verifyOn.contains(input.first);
    });
    if (compares) request["values"] = true;
    return add(segment.name, {.json = std::move(request), .files = filesOf(*lowered.network)});
  }

  Status add(const std::string& what, const ProbeRequest& request) {
    const AnswerContext context = TRY(m_compiler.answerContext("", m_options.stop));
    WhyKept why{.what = what, .op = textOf(request.json, "op"), .key = {}, .found = {}, .nearest = {}, .differs = {}};
    const Json code = context.code(kMostWait, m_options.stop);
    TRY(checkStop(m_options.stop));
    why.key = TRY(answerKey(m_store, context, request, {.code = code, .after = nullptr}, m_options.stop));
    for (const auto& [entry, key] : m_kept) {
      if (textOf(key, "op") != why.op) continue;
      auto differs = keyDifferences(why.key, key);
      if (differs.empty()) {
        why.found = entry;
        why.nearest.reset();
        why.differs.clear();
        break;
      }
      if (why.nearest && why.differs.size() <= differs.size()) continue;
      why.nearest = entry;
      why.differs = std::move(differs);
    }
    m_all.questions.push_back(std::move(why));
    return Done{};
  }

  const ProbedCompiler& m_compiler;
  DiskStore& m_store;
  const BuildOptions& m_options;
  std::vector<std::pair<StoreEntry, Json>> m_kept;
  WhyAllKept m_all;
};

}  // namespace

std::vector<KeyDifference> keyDifferences(const Json& here, const Json& nearest) {
  std::vector<KeyDifference> differences;
  addDifferences("", here, nearest, differences);
  return differences;
}

Result<WhyAllKept> whyKept(const ProbedCompiler& compiler, std::shared_ptr<const Plan> plan, DiskStore& store,
                           const BuildOptions& options) {
  TRY(checkAble(compiler, Ability::Compile, "compile a network"));
  if (std::string why = TRY(compiler.whyNotKept(options.stop)); !why.empty()) {
    WhyAllKept none;
    none.whyNot = std::move(why);
    return none;
  }
  return KeptQuestions(compiler, store, options).run(std::move(plan));
}

}  // namespace fusescope
