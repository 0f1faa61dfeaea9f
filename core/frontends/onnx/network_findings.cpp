#include "frontends/onnx/network_findings.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/elapsed.h"
#include "base/on_two_threads.h"
#include "base/part_hashes.h"
#include "base/reread_file.h"
#include "base/running_hash.h"
#include "frontends/onnx/known_constants.h"
#include "ir/graph.h"
#include "ir/odd_elements.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // checking all of a file of many GiB would read it completely

using OddConstants = std::unordered_map<const Tensor*, OddElements>;  ///< of the constants that were checked

/// Adds the constants of the graph and its bodies whose elements are checked; `bytes` is their size.
void collectConstants(const Graph& graph, std::vector<const Tensor*>& constants, std::size_t& bytes) {
  for (const ValueId id : graph.allValues()) {
    const Tensor* tensor = graph.constantData(id);
    if (tensor == nullptr || !isFloat(tensor->type()) || tensor->container() != Container::None) continue;
    if (bytes >= kMostBytes) return;
    bytes += tensor->byteSize();
    constants.push_back(tensor);
  }
  for (const NodeId id : graph.order())
    for (const auto& [key, attribute] : graph.node(id).attributes)
      if (const auto* body = std::get_if<Subgraph>(&attribute)) collectConstants(*body->graph, constants, bytes);
}

/// Reads a constant from its file, in one pass that counts its odd elements and, if `isHashed`, hashes it.
ConstantFacts readConstant(const Tensor& tensor, const RereadFile& file, bool isHashed) {
  constexpr std::size_t kWidest = 8;  // bytes of an element
  ConstantFacts facts;
  std::optional<RunningHash> hash;
  if (isHashed) hash.emplace();
  std::vector<std::byte> buffer(RereadFile::kPiece);
  for (std::span<const std::byte> rest(tensor.bytes(), tensor.byteSize()); !rest.empty();) {
    const std::size_t read = file.read(rest, buffer);
    const std::size_t whole = read < rest.size() ? read / kWidest * kWidest : read;
    const bool isRead = whole > 0;  // else the rest is taken from the mapping, which is told that the file is shorter
    const std::span<const std::byte> piece = isRead ? std::span<const std::byte>(buffer).first(whole) : rest;
    facts.odd += oddElements(tensor.type(), piece);
    if (hash) hash->add(piece);
    rest = rest.subspan(piece.size());
  }
  if (hash) facts.hash = hash->hash();
  return facts;
}

/// Finds out what is odd about constants, from what is known of their files or by reading them.
class OddConstantFinder {
 public:
  OddConstantFinder(const MappedFiles& mapped, KeptStore* store) : m_files(reread(mapped)) {
    for (const auto& file : mapped) m_known.emplace(file.get(), KnownConstants(store, *file));
  }

  /// The longest constants come first, so that two threads end at about the same time.
  OddConstants run(const Graph& graph) {
    std::vector<const Tensor*> constants;
    std::size_t bytes = 0;
    collectConstants(graph, constants, bytes);
    std::ranges::stable_sort(constants, std::ranges::greater(), [](const Tensor* each) { return each->byteSize(); });
    const auto begin = std::chrono::steady_clock::now();
    std::vector<OddElements> found(constants.size());
    onTwoThreads(found.size(), [&](std::size_t i) { found[i] = checked(*constants[i]); });
    for (auto& [file, known] : m_known) known.keep(msSince(begin));
    OddConstants odd;
    for (std::size_t i = 0; i < found.size(); ++i) odd.emplace(constants[i], found[i]);
    return odd;
  }

 private:
  OddElements checked(const Tensor& tensor) {
    const std::span<const std::byte> all(tensor.bytes(), tensor.byteSize());
    const RereadFile* const file = all.size() < RereadFile::kLeastPart ? nullptr : holderOf(all, m_files);
    if (file == nullptr) return oddElements(tensor);
    KnownConstants& known = m_known.at(&file->file());
    std::optional<ConstantFacts> facts = known.find(tensor.type(), all);
    if (!facts) {
      facts = readConstant(tensor, *file, known.areKept() || arePartHashesWanted());
      if (!known.areKept() && !arePartHashesWanted()) return facts->odd;
      const std::scoped_lock lock(m_mutex);
      known.add(tensor.type(), all, *facts);
    }
    keepPartHash(file->file(), all, facts->hash);
    return facts->odd;
  }

  const std::vector<RereadFile> m_files;
  std::map<const MappedFile*, KnownConstants> m_known;
  std::mutex m_mutex;  ///< for KnownConstants::add()
};

class NetworkFindings {
 public:
  NetworkFindings(const Graph& graph, std::vector<Decision>& decisions, const MappedFiles& files, KeptStore* store)
      : m_decisions(decisions), m_odd(OddConstantFinder(files, store).run(graph)) {}

  void record(const Graph& graph, const BodyPath& path) {
    for (const ValueId id : graph.allValues())
      if (const Tensor* tensor = graph.constantData(id)) recordConstant({path, graph.value(id).name}, *tensor);
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      recordTraining(graph, node, path);
      for (const auto& [key, attribute] : node.attributes)
        if (const auto* body = std::get_if<Subgraph>(&attribute)) record(*body->graph, path.into(node, key));
    }
  }

 private:
  void recordConstant(const NetworkPlace& place, const Tensor& tensor) {
    const auto found = m_odd.find(&tensor);
    if (found == m_odd.end()) return;
    const OddElements& odd = found->second;
    const auto say = [&](std::string_view code, std::int64_t count) {
      if (count > 0)
        m_decisions.push_back(decide(code, {Subject::value(place)}, "import",
                                     {{"value", place.text()}, {"count", count}, {"elements", tensor.count()}}));
    };
    say("import.constant_not_a_number", odd.notNumbers);
    // A single one is a bound or the number of a mask.
    if (tensor.count() > 1) say("import.constant_infinite", odd.infinite);
    say("import.constant_denormal", odd.denormal);
  }

  void recordTraining(const Graph& graph, const Node& node, const BodyPath& path) {
    std::string what;
    if (node.is("Dropout") && node.input(2).valid()) {
      const Tensor* training = graph.constantData(node.input(2));
      if (training == nullptr)
        what = "it is decided at run time whether it drops elements at random";
      else if (training->count() == 1 && training->asInt64(0) != 0)
        what = "it drops elements at random";
    } else if (node.is("BatchNormalization") && node.intAttribute("training_mode", 0) != 0) {
      what = "it calculates mean and variance from each batch";
    }
    if (!what.empty())
      m_decisions.push_back(decide("import.trains", {Subject::node(NetworkPlace{path, node.name})}, "import",
                                   {{"op", node.op}, {"what", what}}));
  }

  std::vector<Decision>& m_decisions;
  const OddConstants m_odd;
};

}  // namespace

void recordNetworkFindings(const Graph& graph, std::vector<Decision>& decisions, const MappedFiles& files,
                           KeptStore* store) {
  NetworkFindings(graph, decisions, files, store).record(graph, {});
}

}  // namespace fusescope
