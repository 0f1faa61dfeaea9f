#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/disk_store.h"
#include "cache/load_cost.h"
#include "cache/shared_place.h"

namespace fusescope {

/// The file with the measured times of kernels, which is beside the store.
struct KeptTimesFile {
  std::filesystem::path path;  ///< empty: there is no folder for it
  std::int64_t times = 0, bytes = 0;
  std::string problem{};  ///< why the times cannot be used, or why new ones are not kept; empty: they are
};
/// Reads it. The file is neither created nor renamed.
KeptTimesFile keptTimesFile();

/// What is kept on this machine between runs of the program.
struct KeptContents {
  std::filesystem::path folder;
  std::string problem;  ///< why the store cannot be used, or why the last entry was not kept; empty: neither
  std::vector<StoreEntry> entries{};
  std::vector<KindStatistics> kinds{};  ///< in the order of their names
  std::int64_t bytes = 0, limit = 0;    ///< what the entries need on disk, and how much they may need
  double savedMs = 0;                   ///< the time that finding entries saved
  KeptTimesFile times{};
};
KeptContents keptContents(DiskStore& store);

/// What is known of the place that FUSESCOPE_SHARED_STORE names.
struct SharedContents {
  std::string place;                      ///< as the user named it
  std::string problem;                    ///< why it is not used now; empty: it answers
  std::optional<PlaceContents> contents;  ///< nothing if the place does not tell it
};
/// Asks that place, which may take up to half a minute. Returns nothing if no place is named.
std::optional<SharedContents> sharedContents();

/// Return the text for people: "1.20 ms + 3.00 ms a MiB", "12 entries", "3 measured times of kernels", and "it answers;
/// 12 entries, 3.00 MiB" or why the place is not used.
std::string inWords(const LoadCost& load);
std::string entriesText(std::int64_t count);
std::string timesText(std::int64_t count);
std::string inWords(const SharedContents& shared);
/// Returns a sentence that says how many entries were not kept because it is quicker to make them again, without its
/// full stop; empty if there were none.
std::string notKeptText(const KindStatistics& kind);

}  // namespace fusescope
