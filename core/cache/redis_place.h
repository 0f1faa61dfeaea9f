#pragma once

#include <string>
#include <string_view>

#include "cache/shared_place.h"

namespace fusescope {

/// Where a Redis is.
struct RedisAddress {
  std::string host;  ///< empty: at `path`
  int port = 6379;
  std::string path;  ///< of its socket
  int database = 0;
  std::int64_t expireSeconds = 0;  ///< after which it forgets what it was given; 0: it does not
};

/// What a user names as a place, as it may be shown: without the name and the password of an address of a Redis.
std::string withoutPassword(std::string place);

/// Reads "redis://host[:port][/database][?expire=SECONDS]" or "unix:PATH[?expire=SECONDS]". Errors: it is neither.
Result<RedisAddress> redisAddress(std::string_view text);

struct RedisPlaceOptions {
  std::chrono::milliseconds limit = kPlacePatience;
  std::uint64_t mostBytes = std::uint64_t{64} << 20;
};

/// A place in a Redis, by one connection that is made when it is needed first and again after it was lost. Values are
/// named "fusescope:NAME". It is asked on a thread that is left behind where finding its host takes too long.
std::unique_ptr<SharedPlace> redisPlace(RedisAddress address, RedisPlaceOptions options = {});

}  // namespace fusescope
