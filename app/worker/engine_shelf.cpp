#include "app/worker/engine_shelf.h"

#include <algorithm>

#include "base/hash.h"
#include "planning/plan_options_json.h"
#include "session/open_artifact.h"
#include "session/options_json.h"

namespace fusescope::worker {
namespace {

constexpr std::size_t kMostArtifacts = 4;
constexpr std::size_t kMostEngines = 4;

/// Returns the key of a source, which contains everything that was asked for.
std::string keyOf(const WorkSource& source) {
  KeyBuilder key;
  key.text(source.path).text(source.backend).text(toJson(source.inputs).dump()).text(toJson(source.options).dump());
  return key.canonical();
}

/// Returns the key of a network that is asked for, whatever the options.
std::string networkOf(const WorkSource& source) {
  KeyBuilder key;
  key.text(source.path).text(toJson(source.inputs).dump());
  return key.canonical();
}

/// Returns the key of an engine: what was asked for, and the identities of the files, so that a changed or replaced
/// file gives another engine.
std::string keyOf(const WorkSource& source, const Artifact& artifact, const BuildOptions& options) {
  KeyBuilder key;
  key.text(keyOf(source)).number(options.threads).number(options.measureTactics);
  key.number(options.effortSeconds.value_or(-1)).number(artifact.files.size());
  for (const FileIdentity& file : artifact.files) {
    key.text(file.path).number(file.device).number(file.inode).number(file.bytes);
    key.number(file.modifiedNs).number(file.changedNs);
  }
  for (const auto& [name, dims] : options.shapes) key.text(name).text(toText(dims));
  return key.canonical();
}

/// Moves the entry of `key` to the front and returns it; returns null if there is none.
template <class List>
auto* newest(List& list, const std::string& key) {
  const auto found = std::ranges::find_if(list, [&](const auto& entry) { return entry.key == key; });
  if (found == list.end()) return static_cast<decltype(&list.front())>(nullptr);
  list.splice(list.begin(), list, found);
  return &list.front();
}

}  // namespace

Result<Artifact> EngineShelf::artifact(const WorkSource& source, const StopToken& stop, const Progress& progress) {
  const auto key = keyOf(source);
  if (const auto* known = newest(m_artifacts, key)) {
    if (checkUnchanged(known->held.files).ok()) return known->held;
    std::erase_if(m_engines, [&](const KeptEngine& engine) { return engine.artifact == key; });
    m_artifacts.pop_front();
  }
  const std::string network = networkOf(source);
  const auto edited = std::ranges::find_if(m_artifacts, [&](const KeptArtifact& known) {
    return known.network == network && known.held.kind == ArtifactKind::Model && checkUnchanged(known.held.files).ok();
  });
  auto opened = TRY(edited != m_artifacts.end()
                        ? openEdited(edited->held, source.options, source.backend, stop, progress)
                        : openArtifact(source.path, source.inputs, source.options, source.backend, stop, progress));
  m_artifacts.push_front({key, network, opened});
  if (m_artifacts.size() > kMostArtifacts) m_artifacts.pop_back();
  return opened;
}

Result<Engine*> EngineShelf::engine(const WorkSource& source, const Artifact& artifact, const BuildOptions& options) {
  const auto key = keyOf(source, artifact, options);
  if (const auto* known = newest(m_engines, key)) return known->held.get();
  auto built = TRY(openEngine(artifact, options));
  m_engines.push_front({keyOf(source), key, std::move(built)});
  if (m_engines.size() > kMostEngines) m_engines.pop_back();
  return m_engines.front().held.get();
}

}  // namespace fusescope::worker
