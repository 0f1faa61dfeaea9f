// `cache` shows what is kept between runs of the program and why an entry was found or not, and cleans it up.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/cli/cache.h"
#include "app/cli/table.h"
#include "base/age.h"
#include "base/text.h"
#include "cache/collect_kept.h"
#include "cache/disk_store.h"
#include "cache/kept_contents.h"
#include "cache/kept_file.h"
#include "cache/process_store.h"
#include "cache/timing_cache.h"
#include "session/operations/cache_operation.h"

namespace fusescope::cli {
namespace {

constexpr double kMebibyte = 1 << 20;

void sayProblem(const DiskStore& store) {
  if (!store.problem().empty()) std::cerr << "fusescope: " << store.problem() << "\n";
}

void sayProblem(const KeptTimesFile& times) {
  if (!times.problem.empty()) std::cerr << fmt::format("fusescope: {}: {}\n", times.path.string(), times.problem);
}

/// Checks the measured times. Errors: the file cannot be used.
Result<TimesCheck> verifyTimes() {
  const std::filesystem::path path = timingCachePath();
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return TimesCheck();
  return TRY(TimingCache::openKnown(path))->verify();
}

/// Returns null if no shared place is configured.
Json sharedJson(const std::optional<SharedContents>& shared) {
  if (!shared) return nullptr;
  return {{"place", shared->place},
          {"problem", shared->problem.empty() ? Json() : Json(shared->problem)},
          {"entries", shared->contents ? Json(shared->contents->entries) : Json()},
          {"stored_bytes", shared->contents ? Json(shared->contents->bytes) : Json()}};
}

Json kindJson(const KindStatistics& of) {
  const LoadCost& load = of.record.load;
  return {{"kind", of.record.kind},
          {"entries", of.entries},
          {"stored_bytes", of.stored},
          {"hits", of.hits},
          {"saved_ms", of.savedMs},
          {"loads", load.loads},
          {"load_fixed_ms", load.fixedMs ? Json(*load.fixedMs) : Json()},
          {"load_ms_per_mib", load.msPerByte ? Json(*load.msPerByte * kMebibyte) : Json()},
          {"not_kept", of.record.notKept},
          {"not_kept_ms", of.record.notKeptMs}};
}

void printKinds(const std::vector<KindStatistics>& kinds) {
  Table table({{"kind"}, {"entries", true}, {"bytes", true}, {"hits", true}, {"saved", true}, {"loading"}});
  for (const KindStatistics& of : kinds)
    table.add({of.record.kind, std::to_string(of.entries), bytesText(of.stored), std::to_string(of.hits),
               secondsText(of.savedMs), inWords(of.record.load)});
  if (!table.empty()) table.print();
  for (const KindStatistics& of : kinds)
    if (const std::string notKept = notKeptText(of); !notKept.empty()) std::cout << notKept << "\n";
}

Result<int> listKept(const CacheArguments& arguments) {
  const auto store = TRY(openStore());
  const KeptContents kept = keptContents(*store);
  if (arguments.json) {
    Json json = cacheDocument("list");
    json["folder"] = kept.folder.string();
    json["stored_bytes"] = kept.bytes;
    json["limit_bytes"] = kept.limit;
    json["entries"] = Json::array();
    for (const StoreEntry& entry : kept.entries) json["entries"].push_back(entryJson(entry));
    json["kinds"] = Json::array();
    for (const KindStatistics& of : kept.kinds) json["kinds"].push_back(kindJson(of));
    json["shared"] = sharedJson(sharedContents());
    json["times"] = {{"file", kept.times.path.string()}, {"count", kept.times.times}, {"bytes", kept.times.bytes}};
    json["times"]["problem"] = kept.times.problem.empty() ? Json() : Json(kept.times.problem);
    json["problem"] = kept.problem.empty() ? Json() : Json(kept.problem);
    printJson(json);
    return kDone;
  }
  sayProblem(*store);
  Table table({{"kind"}, {"what"}, {"bytes", true}, {"age", true}, {"took", true}, {"hits", true}, {"saved", true}});
  for (const StoreEntry& entry : kept.entries)
    table.add({entry.facts.kind, shortened(entry.facts.about, 64),
               bytesText(static_cast<std::int64_t>(entry.size.stored)), ageInWords(entry.madeAt, secondsNow()),
               secondsText(entry.facts.madeMs), std::to_string(entry.hits), secondsText(entry.savedMs)});
  if (!table.empty()) table.print();
  printKinds(kept.kinds);
  std::cout << fmt::format("{}: {}, {} of at most {}, {} saved\n", kept.folder.string(),
                           entriesText(std::ssize(kept.entries)), bytesText(kept.bytes), bytesText(kept.limit),
                           secondsText(kept.savedMs));
  std::cout << fmt::format("{}: {}, {}\n", kept.times.path.string(), timesText(kept.times.times),
                           bytesText(kept.times.bytes));
  sayProblem(kept.times);
  if (const auto shared = sharedContents())
    std::cout << fmt::format("shared: {}: {}\n", shared->place, inWords(*shared));
  return kDone;
}

/// Returns the exit status 1 if an entry was damaged.
Result<int> verifyKept(const CacheArguments& arguments) {
  const auto store = TRY(openStore());
  const StoreCheck check = store->verify();
  const auto times = verifyTimes();
  const std::string timesProblem = times.ok() ? std::string() : times.error().text();
  const TimesCheck timesCheck = times.ok() ? times.value() : TimesCheck();
  if (arguments.json) {
    Json json = cacheDocument("verify");
    json["entries"] = check.entries;
    json["orphans"] = check.orphans;
    json["damaged"] = Json::array();
    for (const DamagedEntry& entry : check.damaged)
      json["damaged"].push_back({{"about", entry.about}, {"why", entry.why}});
    json["times"] = {{"read", timesCheck.times},
                     {"damaged", timesCheck.damaged},
                     {"problem", timesProblem.empty() ? Json() : Json(timesProblem)}};
    printJson(json);
  } else {
    sayProblem(*store);
    if (!timesProblem.empty()) std::cerr << "fusescope: " << timesProblem << "\n";
    for (const DamagedEntry& entry : check.damaged)
      std::cout << fmt::format("damaged and deleted: {}: {}\n", entry.about, entry.why);
    std::cout << fmt::format("{} read, {} damaged; {} that no entry refers to removed\n",
                             counted(check.entries, "blob"), check.damaged.size(), counted(check.orphans, "file"));
    std::cout << fmt::format("{} read, {} damaged and deleted\n", timesText(timesCheck.times), timesCheck.damaged);
  }
  return check.damaged.empty() && timesCheck.damaged == 0 && timesProblem.empty() ? kDone : kDoesNotHold;
}

int sayGone(const DiskStore& store, const KeptCollected& gone, std::int64_t left, bool json) {
  if (json) {
    Json document = cacheDocument("gc");
    document["removed"] = gone.entries;
    document["stored_bytes"] = left;
    document["times_removed"] = gone.times;
    document["times_bytes"] = gone.timesBytes;
    printJson(document);
  } else {
    sayProblem(store);
    std::cout << fmt::format("{} removed; {} left\n", entriesText(gone.entries), bytesText(left));
    if (gone.times > 0)
      std::cout << fmt::format("{} removed; {} left\n", timesText(gone.times), bytesText(gone.timesBytes));
  }
  return kDone;
}

Result<int> collectShared(const ArgumentsOf<CacheGcSettings>& arguments) {
  const auto shared = sharedStoreOfVariables(CacheMode::Write);
  if (shared == nullptr)
    return Diagnostic{.message = "no shared store is named",
                      .where = {.attribute = "--shared"},
                      .help = "Set FUSESCOPE_SHARED_STORE to the whole path of a folder."};
  const PlaceCollected collected = TRY(shared->collect(*arguments.limit));
  if (arguments.json) {
    Json json = cacheDocument("gc");
    json["removed"] = collected.removed;
    json["stored_bytes"] = collected.left.bytes;
    json["place"] = shared->named();
    json["entries"] = collected.left.entries;
    json["unfinished"] = collected.unfinished;
    printJson(json);
  } else {
    std::cout << fmt::format("{}: {} removed; {}, {} left\n", shared->named(), entriesText(collected.removed),
                             entriesText(collected.left.entries), bytesText(collected.left.bytes));
  }
  return kDone;
}

Result<int> collectKept(const ArgumentsOf<CacheGcSettings>& arguments) {
  if (arguments.isShared) return collectShared(arguments);
  const auto store = TRY(openStore());
  const KeptCollected gone = TRY(collectKept(*store, timingCachePath(), arguments.limit));
  return sayGone(*store, gone, store->storedBytes(), arguments.json);
}

Result<int> clearKept(const ArgumentsOf<CacheClearSettings>& arguments) {
  const auto store = DiskStore::open(TRY(storeFolder()));
  const std::int64_t gone = TRY(store->clear());
  const KeptTimesFile times = keptTimesFile();
  const bool isTimed = arguments.withTimes && times.times > 0;
  const std::size_t timesGone = isTimed ? TRY(TRY(TimingCache::open(times.path))->clear()) : 0;
  if (arguments.json) {
    Json json = cacheDocument("clear");
    json["removed"] = gone;
    json["stored_bytes"] = store->storedBytes();
    json["times_removed"] = timesGone;
    printJson(json);
    return kDone;
  }
  sayProblem(*store);
  sayProblem(times);
  std::cout << fmt::format("{} removed; {} left\n", entriesText(gone), bytesText(store->storedBytes()));
  if (arguments.withTimes)
    std::cout << timesText(times.times) << " removed\n";
  else if (times.times > 0)
    std::cout << timesText(times.times) << " left; --times removes them too\n";
  return kDone;
}

Result<int> exportKept(const ArgumentsOf<CacheExportSettings>& arguments) {
  const auto store = TRY(openStore());
  const SigningKey key = TRY(signingKeyOfVariables());
  const KeptFileWritten written = TRY(writeKeptFile(*store, arguments.output, key));
  if (arguments.json) {
    Json json = cacheDocument("export");
    json["file"] = arguments.output;
    json["entries"] = written.entries;
    json["bytes"] = written.bytes;
    json["signed"] = !key.bytes.empty();
    printJson(json);
  } else {
    std::cout << fmt::format(
        "{}: {}, {}, {}\n", arguments.output, entriesText(written.entries), bytesText(written.bytes),
        key.bytes.empty() ? "not signed: only you can import it, from a folder of your own" : "signed");
  }
  return kDone;
}

Result<int> importKept(const ArgumentsOf<CacheImportSettings>& arguments) {
  const auto store = TRY(openStore());
  const KeptFileRead read = TRY(readKeptFile(*store, arguments.file, TRY(signingKeyOfVariables())));
  if (arguments.json) {
    Json json = cacheDocument("import");
    json["kept"] = read.kept;
    json["known"] = read.known;
    json["not_kept"] = read.notKept;
    json["refused"] = Json::array();
    for (const DamagedEntry& entry : read.refused)
      json["refused"].push_back({{"about", entry.about}, {"why", entry.why}});
    printJson(json);
  } else {
    for (const DamagedEntry& entry : read.refused)
      std::cout << fmt::format("refused: an entry of kind {}: {}\n", entry.about, entry.why);
    std::cout << fmt::format("{} added, {} were there already, {} could not be kept, {} refused\n",
                             entriesText(read.kept), read.known, read.notKept, read.refused.size());
  }
  return read.refused.empty() && read.notKept == 0 ? kDone : kDoesNotHold;
}

}  // namespace

Result<std::shared_ptr<DiskStore>> openStore() {
  auto store = DiskStore::open(TRY(storeFolder()));
  if (store->isUsable()) return store;
  return Diagnostic{.message = store->problem(), .where = {.file = store->folder().string()}};
}

Json cacheDocument(const char* what) {
  return {{"format", std::string("fusescope.cache_") + what}, {"version", 1}};
}

Json entryJson(const StoreEntry& entry) {
  return {{"kind", entry.facts.kind},
          {"about", entry.facts.about},
          {"bytes", entry.size.bytes},
          {"stored_bytes", entry.size.stored},
          {"age_s", std::max<std::int64_t>(0, secondsNow() - entry.madeAt)},
          {"made_by", entry.facts.madeBy},
          {"made_ms", entry.facts.madeMs},
          {"hits", entry.hits},
          {"saved_ms", entry.savedMs},
          {"blob", entry.blob}};
}

std::string secondsText(double ms) {
  return fmt::format("{:.1f} s", ms / 1000);
}

Command cacheCommand(CLI::App& app) {
  const Operation& operation = cacheOperation();
  Command own = onlyParts(app, operation);
  CLI::App& verb = *own.app;
  return withParts(std::move(own), {commandOf<NoSettings>(verb, partOf(operation, "cache list"), listKept),
                                    commandOf<NoSettings>(verb, partOf(operation, "cache why"), sayWhyKept),
                                    commandOf<NoSettings>(verb, partOf(operation, "cache verify"), verifyKept),
                                    commandOf<CacheGcSettings>(verb, partOf(operation, "cache gc"), collectKept),
                                    commandOf<CacheExportSettings>(verb, partOf(operation, "cache export"), exportKept),
                                    commandOf<CacheImportSettings>(verb, partOf(operation, "cache import"), importKept),
                                    commandOf<CacheClearSettings>(verb, partOf(operation, "cache clear"), clearKept)});
}

}  // namespace fusescope::cli
