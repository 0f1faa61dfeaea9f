#include "compilers/probed/code_hashes.h"

#include <algorithm>
#include <set>

#include "base/elapsed.h"
#include "base/version.h"
#include "compilers/probed/handed_digest.h"
#include "probe/sha256.h"

namespace fusescope {
namespace {

/// The name of the probe's job that hashes files (resources/probe/code_hashes.py).
constexpr const char* kHashingJob = "code_hashes";
/// The most that one request hashes. After each request the hashes that are known can be stored.
constexpr std::int64_t kBytesAtOnce = std::int64_t{64} << 20;
constexpr std::size_t kFilesAtOnce = 512;
/// How long one request is waited for. Hashing takes less of the processor than whatever is asked without it, so that
/// giving up earlier would make a busy machine busier.
constexpr std::chrono::minutes kForOneRequest{1};

std::string textOfJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns the key under which the hashes of these files, as they are now, are stored.
std::string keyOfHashes(std::string_view compiler, const Json& witness) {
  return textOfJson({{"format", "fusescope.code.1"},
                     {"compiler", compiler},
                     {"files", sha256OfText(textOfJson(witness.value("files", Json())))}});
}

/// Returns the key under which the hashes of all files that were ever hashed in the environment are stored.
std::string keyOfFiles(std::string_view compiler, const Environment& environment) {
  return textOfJson({{"format", "fusescope.code_files.1"}, {"compiler", compiler}, {"command", environment.command}});
}

bool isHash(const Json& json) {
  return json.is_string() && json.get_ref<const std::string&>().size() == 64;
}

/// Returns whether `json` is [size, time of modification, time of change, inode, hash].
bool isHashed(const Json& json) {
  return json.is_array() && json.size() == 5 && isHash(json[4]) &&
         std::all_of(json.begin(), json.begin() + 4, [](const Json& number) { return number.is_number_integer(); });
}

/// Returns whether it is a file as a witness lists it: [path, size, time of modification, time of change, inode, part,
/// name] (core/probe/PROTOCOL.md). The environment may be another machine, so that this is not certain.
bool isListed(const Json& json) {
  return json.is_array() && json.size() == 7 && json[0].is_string() && json[5].is_string() && json[6].is_string() &&
         std::all_of(json.begin() + 1, json.begin() + 5, [](const Json& number) { return number.is_number_integer(); });
}

}  // namespace

CodeHashes::CodeHashes(KeptStore& store, const Environment& environment, std::string compiler, const Json& witness)
    : m_store(store),
      m_compiler(std::move(compiler)),
      m_key(keyOfHashes(m_compiler, witness)),
      m_filesKey(keyOfFiles(m_compiler, environment)) {
  if (const auto kept = store.find(kDigestKind, m_key)) {
    m_hashes = Json::parse(kept->bytes, nullptr, false);
    m_isDone = m_hashes.is_object() && std::ranges::all_of(m_hashes, isHash);
    m_isKept = m_isDone;
    if (m_isDone) return;
    m_hashes = nullptr;
  }
  if (!readFiles(witness)) {
    m_isDone = true;  // the environment's list of files cannot be read, so that the hashes remain unknown
    return;
  }
  readKept();
  const std::vector<std::string> paths = missing();
  // The process is started here and not on the thread, because a thread must not start processes when the program is
  // ending.
  auto job = paths.empty() ? Result<std::unique_ptr<ProbeJob>>(std::unique_ptr<ProbeJob>())
                           : ProbeJob::start(environment, kHashingJob, {});
  if (paths.empty() || !job.ok()) {
    m_hashes = byPart();
    m_isDone = true;
    return;
  }
  m_isLittle = isOneRequest(paths);
  m_thread = std::jthread([this, paths, owned = std::shared_ptr<ProbeJob>(std::move(job).value())](
                              const StopToken& stop) { hash(*owned, paths, stop); });
}

CodeHashes::~CodeHashes() = default;

bool CodeHashes::readFiles(const Json& witness) {
  for (const Json& entry : witness.value("files", Json::array())) {
    if (!isListed(entry)) return false;
    if (entry[5] == "") continue;
    File file{.path = entry[0], .identity = {}, .part = entry[5], .name = entry[6]};
    for (std::size_t i = 1; i < 5; ++i) file.identity.push_back(entry[i].get<std::int64_t>());
    m_files.push_back(std::move(file));
  }
  return true;
}

void CodeHashes::readKept() {
  const auto kept = m_store.find(kDigestKind, m_filesKey);
  const Json files = kept ? Json::parse(kept->bytes, nullptr, false) : Json();
  if (!files.is_array()) return;
  for (const Json& file : files)
    if (isHashed(file)) m_known.emplace(Identity(file.begin(), file.begin() + 4), file[4]);
  m_kept = m_known.size();
}

/// Returns one path for each content whose hash is not known.
std::vector<std::string> CodeHashes::missing() const {
  std::vector<std::string> paths;
  std::set<Identity> seen;
  for (const File& file : m_files)
    if (!m_known.contains(file.identity) && seen.insert(file.identity).second) paths.push_back(file.path);
  return paths;
}

bool CodeHashes::isOneRequest(const std::vector<std::string>& paths) const {
  const std::set<std::string> wanted(paths.begin(), paths.end());
  std::int64_t bytes = 0;
  for (const File& file : m_files) bytes += wanted.contains(file.path) ? file.identity.front() : 0;
  return bytes < kBytesAtOnce && paths.size() < kFilesAtOnce;
}

/// Runs on the thread. If the process fails, the remaining hashes stay unknown.
void CodeHashes::hash(ProbeJob& job, const std::vector<std::string>& paths, const StopToken& stop) {
  std::map<std::string, std::int64_t> sizes;
  for (const File& file : m_files) sizes[file.path] = file.identity.front();
  for (std::size_t i = 0; i < paths.size();) {
    std::vector<std::string> some;
    for (std::int64_t bytes = 0; i < paths.size() && bytes < kBytesAtOnce && some.size() < kFilesAtOnce; ++i) {
      bytes += sizes[paths[i]];
      some.push_back(paths[i]);
    }
    const auto answer = job.ask({.json = {{"op", "sha256"}, {"paths", some}}, .files = {}}, stop);
    if (!answer.ok()) break;
    add(some, answer.value().json.value("files", Json()));
  }
  const std::lock_guard lock(m_mutex);
  m_hashes = byPart();
  m_isDone = true;
  m_changed.notify_all();
}

void CodeHashes::add(const std::vector<std::string>& paths, const Json& hashes) {
  if (!hashes.is_array() || hashes.size() != paths.size()) return;
  const std::lock_guard lock(m_mutex);
  for (const Json& file : hashes)
    if (isHashed(file)) m_known.emplace(Identity(file.begin(), file.begin() + 4), file[4]);
}

/// Returns null if the hash of a file is not known.
Json CodeHashes::byPart() const {
  std::map<std::string, std::set<std::string>> parts;
  for (const File& file : m_files) {
    const auto known = m_known.find(file.identity);
    if (known == m_known.end()) return nullptr;
    parts[file.part].insert(textOfJson({file.name, known->second}));
  }
  Json hashes = Json::object();
  for (const auto& [part, files] : parts) {
    Sha256 hash;
    for (const std::string& file : files) hash.add(file + "\n");
    hashes[part] = hash.hex();
  }
  return hashes;
}

Json CodeHashes::wait(std::chrono::milliseconds most, const StopToken& stop) {
  std::unique_lock lock(m_mutex);
  if (m_isLittle) most = std::max<std::chrono::milliseconds>(most, kForOneRequest);
  m_changed.wait_until(lock, stop, m_began + most, [this] { return m_isDone; });
  keepNow();
  return m_isDone ? m_hashes : Json();
}

void CodeHashes::keepNow() {
  const KeptFacts facts{.kind = kDigestKind,
                        .about = "SHA-256 of the code of " + m_compiler,
                        .madeBy = std::string(kFusescopeVersion),
                        .madeMs = msSince(m_began)};
  if (m_known.size() > m_kept) m_store.keep(facts, m_filesKey, textOfJson(knownFiles()));
  m_kept = m_known.size();
  if (m_isDone && !m_hashes.is_null() && !m_isKept) m_store.keep(facts, m_key, textOfJson(m_hashes));
  m_isKept = m_isDone;
}

/// Returns the known hashes, without those of files that no longer exist.
Json CodeHashes::knownFiles() const {
  Json files = Json::array();
  std::set<Identity> seen;
  for (const File& file : m_files) {
    const auto known = m_known.find(file.identity);
    if (known == m_known.end() || !seen.insert(file.identity).second) continue;
    Json entry = file.identity;
    entry.push_back(known->second);
    files.push_back(std::move(entry));
  }
  return files;
}

}  // namespace fusescope
