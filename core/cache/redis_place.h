#pragma once

#include <string>
#include <string_view>

#include "cache/shared_place.h"

namespace fusescope {

/// The address of a Redis server.
struct RedisAddress {
  std::string host;  ///< empty: the server is reached by the socket at `path`
  int port = 6379;
  std::string path;  ///< the path of its socket
  int database = 0;
  std::int64_t expireSeconds = 0;  ///< the time after which the server deletes an entry; 0: never
};

/// Returns the place that a user named in a form that may be shown: without the name and password in the address of a
/// Redis.
std::string withoutPassword(std::string place);

/// Parses "redis://host[:port][/database][?expire=SECONDS]" or "unix:PATH[?expire=SECONDS]". Errors: it is neither.
Result<RedisAddress> redisAddress(std::string_view text);

struct RedisPlaceOptions {
  std::chrono::milliseconds limit = kPlaceTimeout;
  std::uint64_t mostBytes = std::uint64_t{64} << 20;
};

/// Returns a place in a Redis server. It uses one connection, which is opened when it is first needed and again after
/// it was lost. Keys are "fusescope:NAME". It works on a thread that is abandoned if resolving the host takes too long.
std::unique_ptr<SharedPlace> redisPlace(RedisAddress address, RedisPlaceOptions options = {});

}  // namespace fusescope
