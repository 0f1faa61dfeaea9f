#include "cache/shared_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/age.h"
#include "cache/abandonable_work.h"
#include "cache/folder_place.h"
#include "cache/redis_place.h"
#include "cache/shared_rest.h"
#include "cache/shared_times.h"

namespace fusescope {
namespace {

using std::chrono::seconds;

constexpr seconds kFirstPause{30}, kLongestPause{600};
/// Limits for operations that a person started and waits for.
constexpr seconds kCountingTime{30}, kCollectingTime{600};
/// The kinds of entries that are the same on every machine that has the same key. Entries of all other kinds are valid
/// for one machine only.
constexpr std::array<std::string_view, 4> kSharedKinds{kCodeKind, kTimesKind, "answer", "compiled"};

bool isRedis(std::string_view place) {
  return place.starts_with("redis:") || place.starts_with("unix:");
}

struct OpenPlace {
  std::unique_ptr<SharedPlace> place;
  SigningKey key;
};

Result<OpenPlace> openPlace(const std::string& place, const std::string& keyFile) {
  SigningKey key;
  if (!keyFile.empty())  // the file may be on a mount that does not respond
    key = TRY(AbandonableWork().run<SigningKey>(seconds(1),
                                                [keyFile](TransferDeadline&) { return readSigningKey(keyFile); }));
  if (!isRedis(place)) {
    if (!std::filesystem::path(place).is_absolute())
      return Diagnostic{.message = "the path of a folder must be absolute"};
    const auto trust = keyFile.empty() ? FolderTrust::Private : FolderTrust::Signed;
    return OpenPlace{.place = folderPlace(place, {.trust = trust}), .key = std::move(key)};
  }
  if (keyFile.empty())
    return Diagnostic{
        .message = "there is no signing key, and without one only a folder that no other user can write is used"};
  return OpenPlace{.place = redisPlace(TRY(redisAddress(place))), .key = std::move(key)};
}

}  // namespace

std::shared_ptr<SharedStore> SharedStore::open(const std::string& place, const std::string& keyFile,
                                               SharedStoreOptions options) {
  auto opened = openPlace(place, keyFile);
  const std::string problem =
      opened.ok() ? std::string()
                  : fmt::format("the shared store {} is not used: {}", withoutPassword(place), opened.error().text());
  OpenPlace used = opened.ok() ? std::move(opened).value() : OpenPlace{};
  auto store = std::make_shared<SharedStore>(std::move(used.place), std::move(used.key), std::move(options));
  store->m_named = withoutPassword(place);
  store->m_problem = problem;
  store->readRest();
  return store;
}

bool isValidElsewhere(std::string_view kind) {
  return std::ranges::find(kSharedKinds, kind) != kSharedKinds.end();
}

bool SharedStore::isUsed(std::string_view kind) const {
  return m_place != nullptr && m_options.mode != CacheMode::Off && m_options.now() >= m_all.until &&
         isValidElsewhere(kind);
}

void SharedStore::leaveAlone(Alone& alone, std::string why) const {
  alone.next = std::clamp(alone.next * 2, kFirstPause, kLongestPause);
  alone.until = m_options.now() + alone.next;
  alone.why = std::move(why);
}

/// Leaves the place alone, and tells other processes of this machine, unless the settings of this process are wrong:
/// those of others may be right, and may be corrected at any moment.
void SharedStore::rest(std::string why) {
  leaveAlone(m_all, std::move(why));
  if (m_place->isWronglySet()) return;
  keepRest(m_options.restFile, m_named,
           {.until = secondsNow() + m_all.next.count(), .next = m_all.next, .why = m_all.why});
}

/// Leaves the place alone as long as another process found that it fails.
void SharedStore::readRest() {
  const auto known = restOf(m_options.restFile, m_named, kLongestPause);
  if (!known) return;
  m_all = {.until = m_options.now() + seconds(known->until - secondsNow()), .next = known->next, .why = known->why};
}

void SharedStore::answered() {
  if (m_all.next > seconds(0)) endRest(m_options.restFile);
  m_all.next = seconds(0);
}

std::optional<Kept> SharedStore::find(std::string_view kind, std::string_view key) {
  const std::lock_guard lock(m_mutex);
  if (!isUsed(kind)) return std::nullopt;
  auto blob = m_place->get(sharedName(kind, key));
  if (!blob.ok()) {
    rest(blob.error().text());
    return std::nullopt;
  }
  answered();
  if (!blob.value()) return std::nullopt;
  auto kept = openedBlob(*blob.value(), kind, key, m_key);
  if (!kept.ok()) {
    m_damaged.push_back(
        {.about = fmt::format("the entry of {} with the name {}", m_place->where(), sharedName(kind, key)),
         .why = "it " + kept.error().message});
    return std::nullopt;
  }
  kept.value().where = m_place->kind();
  return std::move(kept).value();
}

bool SharedStore::keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) {
  const std::lock_guard lock(m_mutex);
  if (m_options.mode != CacheMode::Write || !isUsed(facts.kind) || m_options.now() < m_writing.until) return false;
  KeptFacts dated = facts;
  if (dated.madeAt == 0) dated.madeAt = secondsNow();
  auto blob = sealedBlob(dated, key, bytes, m_key);
  if (!blob.ok() || blob.value().size() > m_place->mostBytes()) return false;
  const auto answer = m_place->put(sharedName(facts.kind, key), std::move(blob).value());
  if (!answer.ok()) {
    rest(answer.error().text());
    return false;
  }
  answered();
  if (!answer.value().refusal.empty()) {
    leaveAlone(m_writing, answer.value().refusal);
    return false;
  }
  m_writing.next = seconds(0);
  return true;
}

Result<PlaceContents> SharedStore::contents() {
  const std::lock_guard lock(m_mutex);
  if (m_place == nullptr) return Diagnostic{.message = m_problem};
  return m_place->contents(kCountingTime);
}

Result<PlaceCollected> SharedStore::collect(std::int64_t mostBytes) {
  const std::lock_guard lock(m_mutex);
  if (m_place == nullptr) return Diagnostic{.message = m_problem};
  return m_place->collect(mostBytes, kCollectingTime);
}

std::string SharedStore::problem() const {
  const std::lock_guard lock(m_mutex);
  if (m_place == nullptr) return m_problem;
  const auto left = [&](const Alone& alone) {
    return std::chrono::ceil<seconds>(alone.until - m_options.now()).count();
  };
  if (const auto rest = left(m_all); rest > 0)
    return fmt::format("{} is not used for {} s: {}", m_place->where(), rest, m_all.why);
  if (const auto rest = left(m_writing); rest > 0)
    return fmt::format("nothing is written to {} for {} s: {}", m_place->where(), rest, m_writing.why);
  return {};
}

std::vector<DamagedEntry> SharedStore::takeDamaged() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_damaged, {});
}

}  // namespace fusescope
