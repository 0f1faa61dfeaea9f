#pragma once

#include <memory>
#include <string>

#include "app/cli/command.h"
#include "cache/disk_store.h"

namespace fusescope::cli {

using CacheArguments = ArgumentsOf<NoSettings>;

/// Opens the store, whatever --cache says. Errors: there is no folder for it, or it cannot be used.
Result<std::shared_ptr<DiskStore>> openStore();
/// Returns the beginning of the document of a part of `cache`: "why".
Json cacheDocument(const char* what);
Json entryJson(const StoreEntry& entry);
std::string secondsText(double ms);

/// Carries out `cache why`. The exit status is 0 if everything was found, and 1 otherwise.
Result<int> sayWhyKept(const CacheArguments& arguments);

}  // namespace fusescope::cli
