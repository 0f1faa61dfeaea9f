#include "compilers/probed/why_kept.h"

#include <algorithm>
#include <utility>

#include "compilers/compile_network.h"
#include "compilers/network_parts.h"
#include "compilers/probed/handed_values.h"
#include "compilers/probed/kept_compiled.h"
#include "compilers/probed/network_digests.h"
#include "engine/kernels/input_check.h"
#include "probe/frames.h"

namespace fusescope {
namespace {

/// How long a question about keys waits until the code of the compiler is hashed, because the keys contain the hashes.
constexpr std::chrono::minutes kMostWait{10};
/// Of so many answers whose keys differ in equally many fields, the parts of the network are compared; answers that are
/// larger than this are left out, because the whole answer is read for it.
constexpr std::size_t kMostCompared = 16;
constexpr std::uint64_t kMostReadBytes = std::uint64_t{64} << 20;

/// An entry of more bytes contains a compiled network, and no reason why it does not.
constexpr std::uint64_t kMostReason = 64 << 10;

bool isOfNetwork(const KeyDifference& difference) {
  return difference.field.starts_with("network.");
}

/// Returns in how many ways the keys differ; the files of the network count once.
std::size_t weightOf(const std::vector<KeyDifference>& differs) {
  const auto ofNetwork = static_cast<std::size_t>(std::ranges::count_if(differs, isOfNetwork));
  return differs.size() - ofNetwork + std::min<std::size_t>(ofNetwork, 1);
}

bool isOfOtherNetwork(const std::vector<KeyDifference>& differs) {
  return std::ranges::any_of(differs, isOfNetwork);
}

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
  KeptQuestions(const ProbedCompiler& compiler, const KeptPlaces& places, const BuildOptions& options)
      : m_compiler(compiler), m_places(places), m_options(options) {
    for (StoreEntry& entry : places.disk.entries(kAnswerKind)) {
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
    const auto files = filesOf(*lowered.network);
    Json comparing = request;
    if (compares) comparing["values"] = true;
    TRY(add(segment.name, {.json = std::move(comparing), .files = files}));
    if (!compares || m_all.questions.back().found) return Done{};
    WhyKept ofBuild = TRY(asked(segment.name, {.json = std::move(request), .files = files}));
    if (!ofBuild.found) return Done{};
    m_all.questions.back().by = "plan";
    ofBuild.by = "build";
    m_all.questions.push_back(std::move(ofBuild));
    return Done{};
  }

  Status add(const std::string& what, const ProbeRequest& request) {
    m_all.questions.push_back(TRY(asked(what, request)));
    return Done{};
  }

  Result<WhyKept> asked(const std::string& what, const ProbeRequest& request) {
    const AnswerContext context = TRY(m_compiler.answerContext("", m_options.stop));
    WhyKept why{.what = what, .op = textOf(request.json, "op")};
    const Json code = context.code(kMostWait, m_options.stop);
    TRY(checkStop(m_options.stop));
    why.key = TRY(answerKey(m_places.disk, context, request, {.code = code, .after = nullptr}, m_options.stop));
    if (!findOnDisk(why) && !findShared(why)) findNearest(request, why);
    if (why.op == "compile") findCompiled(why);
    return why;
  }

  bool findOnDisk(WhyKept& why) const {
    for (const Json& serving : keysServing(why.key)) {
      const auto same = std::ranges::find_if(m_kept, [&](const auto& kept) { return kept.second == serving; });
      if (same == m_kept.end()) continue;
      why.found = same->first;
      why.where = "disk";
      return true;
    }
    return false;
  }

  void findCompiled(WhyKept& why) const {
    const std::string key = compiledKey(why.key);
    auto entries = m_places.disk.entries(kCompiledKind);
    const auto same = std::ranges::find(entries, key, &StoreEntry::key);
    if (same == entries.end()) return;
    if (same->size.bytes <= kMostReason)
      if (const auto bytes = m_places.disk.bytesOf(*same); bytes.ok()) why.givenUp = whyGivenUp(bytes.value());
    why.compiled = std::move(*same);
  }

  /// Asks the place that a team shares. What is found there is not kept on disk.
  bool findShared(WhyKept& why) {
    if (m_places.shared == nullptr) return false;
    for (const Json& serving : keysServing(why.key)) {
      const auto kept = m_places.shared->find(kAnswerKind, keyBytes(serving));
      m_all.shared = m_places.shared->problem();
      if (!kept) continue;
      why.found = StoreEntry{.facts = kept->facts,
                             .key = keyBytes(serving),
                             .blob = {},
                             .size = {.bytes = kept->bytes.size()},
                             .madeAt = kept->madeAt};
      why.where = kept->where;
      return true;
    }
    return false;
  }

  void findNearest(const ProbeRequest& request, WhyKept& why) {
    std::vector<std::pair<const StoreEntry*, std::vector<KeyDifference>>> near;
    for (const auto& [entry, key] : m_kept) {
      if (textOf(key, "op") != why.op || textOf(key, "compiler") != textOf(why.key, "compiler")) continue;
      auto differs = keyDifferences(why.key, key);
      const std::size_t least = near.empty() ? SIZE_MAX : weightOf(near.front().second);
      if (weightOf(differs) > least) continue;
      if (weightOf(differs) < least) near.clear();
      near.emplace_back(&entry, std::move(differs));
    }
    if (near.empty()) return;
    // Answers about the same network come first, and then newer ones.
    std::ranges::stable_sort(
        near, {}, [](const auto& each) { return std::pair(isOfOtherNetwork(each.second), -each.first->madeAt); });
    near.resize(std::min(near.size(), kMostCompared));
    const Json digests = isOfOtherNetwork(near.back().second) ? networkDigests(request.files) : Json();
    std::size_t least = SIZE_MAX;
    for (auto& [entry, differs] : near) {
      std::vector<std::string> parts;
      if (isOfOtherNetwork(differs) && entry->size.bytes <= kMostReadBytes)
        if (const auto bytes = m_places.disk.bytesOf(*entry); bytes.ok())
          parts = partsThatDiffer(digests, digestsKeptWith(bytes.value()));
      // If no part is known to differ although the network does, every other answer is nearer.
      const bool isUnknown = isOfOtherNetwork(differs) && parts.empty();
      const std::size_t count = isUnknown ? SIZE_MAX - 1 : parts.size();
      if (count >= least) continue;
      least = count;
      why.nearest = *entry;
      why.differs = std::move(differs);
      why.parts = std::move(parts);
    }
  }

  const ProbedCompiler& m_compiler;
  const KeptPlaces& m_places;
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

std::string placeInWords(const std::string& where) {
  if (where == "disk") return "on disk";
  return where == "redis" ? "in Redis" : "in the " + where;
}

std::vector<KeyDifference> differencesBesideParts(const WhyKept& why) {
  std::vector<KeyDifference> differs = why.differs;
  if (!why.parts.empty()) std::erase_if(differs, isOfNetwork);
  return differs;
}

Result<WhyAllKept> whyKept(const ProbedCompiler& compiler, std::shared_ptr<const Plan> plan, const KeptPlaces& places,
                           const BuildOptions& options) {
  TRY(checkAble(compiler, Ability::Compile, "compile a network"));
  if (std::string why = TRY(compiler.whyNotKept(options.stop)); !why.empty()) {
    WhyAllKept none;
    none.whyNot = std::move(why);
    return none;
  }
  return KeptQuestions(compiler, places, options).run(std::move(plan));
}

}  // namespace fusescope
