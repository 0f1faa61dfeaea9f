#include "compilers/probed/kept_compiled.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/elapsed.h"
#include "base/version.h"
#include "probe/frames.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;

/// How many times as long as loading a network compiling it must take, so that it is saved. What the compiler itself
/// does while it loads is not known before it has done it, and saving takes time as well.
constexpr double kLeastGain = 2;
/// The milliseconds that loading takes at least: one more question to the process, and files that are written.
constexpr double kLeastLoadMs = 10;

/// The member of an entry's first line that says why it contains no network.
constexpr const char* kGivenUp = "given_up";

}  // namespace

std::string compiledKey(const Json& compile) {
  Json key = compile;
  key["op"] = "save";
  key["request"].erase("values");
  return keyBytes(key);
}

std::string whyGivenUp(std::string_view entry) {
  return textOf(headOf(entry), kGivenUp);
}

KeptCompiled::KeptCompiled(KeptStore& store, const Json& compile, std::string about)
    : m_store(store), m_key(compiledKey(compile)), m_about(std::move(about)) {}

Result<bool> KeptCompiled::loadInto(ProbeJob& job, const ProbeRequest& asked, const StopToken& stop,
                                    const Progress& progress) {
  const auto start = Clock::now();
  auto kept = m_store.find(kCompiledKind, m_key);
  if (!kept) return false;
  m_isGivenUp = !whyGivenUp(kept->bytes).empty();
  if (m_isGivenUp) return false;
  auto restored = restoredAnswer(kept->bytes);
  if (!restored.ok()) return false;
  m_news = {.compileMs = kept->facts.madeMs, .bytes = static_cast<std::int64_t>(kept->bytes.size())};
  kept->bytes = std::string();  // they may be as many as those of the network
  m_news.kept = std::move(*kept);
  ProbeRequest load{.json = {{"op", "load"}, {"options", asked.json.value("options", Json::object())}},
                    .files = restored.value().answer.files};
  load.files.insert(asked.files.begin(), asked.files.end());
  const auto loaded = job.ask(load, stop, progress);
  m_news.loadMs = msSince(start);
  if (!loaded.ok()) {
    if (loaded.error().cancelled) return loaded.error();
    m_news.event = CompiledNews::Event::NotLoaded;
    m_news.problem = loaded.error().message;
    giveUp(m_news.compileMs, m_news.problem);
    return false;
  }
  m_loaded = std::make_shared<const TemporaryFolder>(std::move(restored.value().folder));
  const bool isSlower = m_news.loadMs > m_news.compileMs;
  m_news.event = isSlower ? CompiledNews::Event::LoadedTooSlowly : CompiledNews::Event::Loaded;
  if (isSlower) giveUp(m_news.compileMs, "loading it took longer than compiling it");
  return true;
}

Result<bool> KeptCompiled::saveFrom(ProbeJob& job, const ProbeRequest& asked, double compileMs, const StopToken& stop,
                                    const Progress& progress) {
  const double loadMs = std::max(kLeastLoadMs, m_store.msToLoad(kCompiledKind, totalBytes(asked.files)));
  if (m_isGivenUp || !m_store.keepsNew() || compileMs < kLeastGain * loadMs) return false;
  auto saved = job.ask({.json = {{"op", "save"}}, .files = {}}, stop, progress);
  if (!saved.ok() && saved.error().cancelled) return std::move(saved).error();
  if (!saved.ok()) return false;  // this compiler does not save networks, or not this one
  const auto entry = entryOf(saved.value(), {});
  const KeptFacts facts{
      .kind = kCompiledKind, .about = m_about, .madeBy = std::string(kFusescopeVersion), .madeMs = compileMs};
  if (!entry || !m_store.keep(facts, m_key, *entry)) return false;
  if (m_news.event == CompiledNews::Event::None) m_news.event = CompiledNews::Event::Saved;
  m_news.compileMs = compileMs;
  m_news.bytes = static_cast<std::int64_t>(entry->size());
  return true;
}

/// Replaces the entry by one that says why there is none. What finding it saves is saving it once more.
void KeptCompiled::giveUp(double compileMs, const std::string& why) {
  m_isGivenUp = true;
  m_store.keep({.kind = kCompiledKind, .about = m_about, .madeBy = std::string(kFusescopeVersion), .madeMs = compileMs},
               m_key, Json{{kGivenUp, why}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace fusescope
