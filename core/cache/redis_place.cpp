#include "cache/redis_place.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/visible_text.h"
#include "cache/abandonable_work.h"

namespace fusescope {
namespace {

using Value = std::optional<std::string>;
using Words = std::vector<std::string>;

/// Bytes that an answer contains in addition to a value: its length and two line ends.
constexpr std::size_t kAround = 64;

/// The types of answers to the commands that this file sends. Others are refused, because hiredis would allocate memory
/// for a list of any announced length.
constexpr std::string_view kAnswers = "$+-:";

template <class Number>
bool readNumber(std::string_view text, Number least, Number most, Number& into) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
  return failed == std::errc() && end == text.data() + text.size() && into >= least && into <= most;
}

struct Reply {
  int type = 0;
  std::string text;
};

Diagnostic rubbish() {
  return {.message = "its answer is not one that Redis gives"};
}

Diagnostic lineError() {
  const bool isSlow = errno == EAGAIN || errno == EWOULDBLOCK;
  return {.message = isSlow ? "it takes too long" : fmt::format("the connection was lost: {}", std::strerror(errno))};
}

/// Sends the bytes without hiredis, which would end this process with SIGPIPE if the server has closed the connection.
Status sendAll(int line, std::string_view bytes, TransferDeadline& deadline) {
  constexpr std::size_t kPieceSent = std::size_t{1} << 18;
  while (!bytes.empty()) {
    if (deadline.isOver()) return Diagnostic{.message = "it takes too long"};
    const ssize_t count = ::send(line, bytes.data(), std::min(kPieceSent, bytes.size()), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return lineError();
    bytes.remove_prefix(static_cast<std::size_t>(count));
    deadline.moved(static_cast<std::size_t>(count));
  }
  return Done{};
}

/// Returns the length that the beginning of a value announces, or 0 if there is none.
std::uint64_t announced(std::string_view answer) {
  std::uint64_t bytes = 0;
  if (answer.starts_with('$')) std::from_chars(answer.data() + 1, answer.data() + answer.size(), bytes);
  return bytes;
}

/// Any other answer than a value is a single line, such as an error, of at most this length.
constexpr std::uint64_t kLongestLine = 4096;

/// Receives an answer of at most `most` bytes.
Result<Reply> receive(redisContext& line, std::uint64_t most, TransferDeadline& deadline) {
  std::string piece(std::size_t{1} << 16, '\0');
  for (std::uint64_t got = 0;;) {
    if (deadline.isOver()) return Diagnostic{.message = "it takes too long"};
    const ssize_t count = ::recv(line.fd, piece.data(), piece.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return lineError();
    if (count == 0) return Diagnostic{.message = "it closed the connection"};
    if (got == 0 && kAnswers.find(piece.front()) == std::string_view::npos) return rubbish();
    if (got == 0 && piece.front() != '$') most = std::min(most, kLongestLine);
    const bool isAnnounced = got == 0 && announced(std::string_view(piece).substr(0, count)) > most;
    got += static_cast<std::uint64_t>(count);
    if (isAnnounced || got > most + kAround) return Diagnostic{.message = "its answer is larger than an entry can be"};
    deadline.moved(static_cast<std::size_t>(count));
    void* answer = nullptr;
    if (redisReaderFeed(line.reader, piece.data(), static_cast<std::size_t>(count)) != REDIS_OK ||
        redisReaderGetReply(line.reader, &answer) != REDIS_OK)
      return rubbish();
    if (answer == nullptr) continue;
    const std::unique_ptr<redisReply, void (*)(void*)> owned(static_cast<redisReply*>(answer), freeReplyObject);
    if (line.reader->pos != line.reader->len) return rubbish();  // the server sent more than one answer
    return Reply{.type = owned->type,
                 .text = owned->str == nullptr ? std::string() : std::string(owned->str, owned->len)};
  }
}

Result<Reply> exchange(redisContext& line, const Words& words, std::uint64_t most, TransferDeadline& deadline) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* command = nullptr;
  const int size = redisFormatCommandArgv(&command, static_cast<int>(words.size()), texts.data(), sizes.data());
  if (size < 0) return Diagnostic{.message = "there is not enough memory for the request"};
  const std::unique_ptr<char, void (*)(char*)> owned(command, redisFreeCommand);
  TRY(sendAll(line.fd, {command, static_cast<std::size_t>(size)}, deadline));
  return receive(line, most, deadline);
}

/// A connection. Requests that are still running share it, so that one that is abandoned keeps its connection until it
/// ends.
struct Line {
  std::unique_ptr<redisContext, void (*)(redisContext*)> context{nullptr, redisFree};
};

Status connect(Line& line, const RedisAddress& address, TransferDeadline& deadline) {
  const auto limit = std::chrono::duration_cast<std::chrono::microseconds>(deadline.limit()).count();
  const timeval most{.tv_sec = limit / 1'000'000, .tv_usec = limit % 1'000'000};
  line.context.reset(address.host.empty() ? redisConnectUnixWithTimeout(address.path.c_str(), most)
                                          : redisConnectWithTimeout(address.host.c_str(), address.port, most));
  if (line.context == nullptr) return Diagnostic{.message = "there is not enough memory for a connection"};
  if (line.context->err != 0 || redisSetTimeout(line.context.get(), most) != REDIS_OK)
    return Diagnostic{.message = fmt::format("it cannot be reached: {}", line.context->errstr)};
  if (address.database == 0) return Done{};
  const Reply reply = TRY(exchange(*line.context, {"SELECT", std::to_string(address.database)}, kAround, deadline));
  if (reply.type == REDIS_REPLY_STATUS) return Done{};
  return Diagnostic{.message = fmt::format("it has no database {}: {}", address.database, visibleText(reply.text))};
}

/// Sends a command and receives the answer. If an existing connection does not work any more, a new one is made.
Result<Reply> ask(Line& line, const RedisAddress& address, const Words& words, std::uint64_t most,
                  TransferDeadline& deadline) {
  const bool wasThere = line.context != nullptr;
  if (wasThere) {
    auto reply = exchange(*line.context, words, most, deadline);
    if (reply.ok() || deadline.isOver()) return reply;
  }
  TRY(connect(line, address, deadline));
  return exchange(*line.context, words, most, deadline);
}

class RedisPlace final : public SharedPlace {
 public:
  RedisPlace(RedisAddress address, RedisPlaceOptions options) : m_address(std::move(address)), m_options(options) {}

  std::string_view kind() const override { return "redis"; }
  std::string where() const override {
    return m_address.host.empty() ? "Redis at " + m_address.path
                                  : fmt::format("Redis at {}:{}", m_address.host, m_address.port);
  }
  std::uint64_t mostBytes() const override { return m_options.mostBytes; }

  Result<Value> get(const std::string& name) override {
    Reply reply = TRY(asked({"GET", keyOf(name)}));
    if (reply.type == REDIS_REPLY_NIL) return Value();
    if (reply.type == REDIS_REPLY_STRING) return Value(std::move(reply.text));
    return failed(reply);
  }

  Result<PutAnswer> put(const std::string& name, std::string bytes) override {
    Words words{"SET", keyOf(name), std::move(bytes)};
    if (m_address.expireSeconds > 0) words.insert(words.end(), {"EX", std::to_string(m_address.expireSeconds)});
    const Reply reply = TRY(asked(std::move(words)));
    if (reply.type == REDIS_REPLY_STATUS && reply.text == "OK") return PutAnswer{};
    if (reply.type == REDIS_REPLY_ERROR) return PutAnswer{.refusal = "it answers: " + visibleText(reply.text)};
    return failed(reply);
  }

  Result<PlaceContents> contents(std::chrono::milliseconds) override { return ownLimits(); }
  Result<PlaceCollected> collect(std::int64_t, std::chrono::milliseconds) override { return ownLimits(); }

 private:
  static Diagnostic ownLimits() {
    return {.message = "Redis counts and limits its contents itself",
            .help = "Set its maxmemory and maxmemory-policy, or let entries expire: redis://…?expire=SECONDS."};
  }

  static std::string keyOf(const std::string& name) { return "fusescope:" + name; }

  /// Returns the error. After an answer that was not expected, the connection is not used again.
  Diagnostic failed(const Reply& reply) {
    m_line = std::make_shared<Line>();
    return reply.type == REDIS_REPLY_ERROR ? Diagnostic{.message = "it answers: " + visibleText(reply.text)}
                                           : rubbish();
  }

  Result<Reply> asked(Words words) {
    auto reply = m_behind.run<Reply>(
        m_options.limit, [line = m_line, address = m_address, words = std::move(words), most = m_options.mostBytes](
                             TransferDeadline& deadline) { return ask(*line, address, words, most, deadline); });
    if (!reply.ok()) m_line = std::make_shared<Line>();
    return reply;
  }

  const RedisAddress m_address;
  const RedisPlaceOptions m_options;
  AbandonableWork m_behind;
  std::shared_ptr<Line> m_line = std::make_shared<Line>();
};

}  // namespace

std::string withoutPassword(std::string place) {
  const std::size_t at = place.rfind('@'), from = place.find("//");
  if (place.starts_with("redis:") && at != std::string::npos && from != std::string::npos && at > from)
    place.replace(from + 2, at - from - 2, "…");
  return place;
}

Result<RedisAddress> redisAddress(std::string_view text) {
  constexpr std::string_view kTcp = "redis://", kUnix = "unix:", kExpire = "?expire=";
  const Diagnostic wrong{
      .message = fmt::format("{} is not an address of Redis", visibleText(withoutPassword(std::string(text)))),
      .help = "Give redis://host[:port][/database][?expire=SECONDS] or unix:PATH[?expire=SECONDS]."};
  RedisAddress address;
  if (const std::size_t at = text.find(kExpire); at != std::string_view::npos) {
    if (!readNumber(text.substr(at + kExpire.size()), std::int64_t{1}, std::int64_t{1} << 40, address.expireSeconds))
      return wrong;
    text = text.substr(0, at);
  }
  if (text.starts_with(kUnix)) {
    address.path = text.substr(kUnix.size());
    return address.path.empty() ? Result<RedisAddress>(wrong) : address;
  }
  if (!text.starts_with(kTcp)) return wrong;
  text.remove_prefix(kTcp.size());
  if (const std::size_t at = text.find('/'); at != std::string_view::npos) {
    if (at + 1 < text.size() && !readNumber(text.substr(at + 1), 0, 1 << 20, address.database)) return wrong;
    text = text.substr(0, at);
  }
  if (const std::size_t at = text.find(':'); at != std::string_view::npos) {
    if (!readNumber(text.substr(at + 1), 1, 65535, address.port)) return wrong;
    text = text.substr(0, at);
  }
  address.host = text;
  return address.host.empty() ? Result<RedisAddress>(wrong) : address;
}

std::unique_ptr<SharedPlace> redisPlace(RedisAddress address, RedisPlaceOptions options) {
  return std::make_unique<RedisPlace>(std::move(address), options);
}

}  // namespace fusescope
