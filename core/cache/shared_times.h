#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cache/kept_store.h"
#include "cache/measurement.h"

namespace fusescope {

/// The kind of entries that contain measured times.
inline constexpr std::string_view kTimesKind = "times";

/// Returns the bytes of an entry with these times, and reads them again. An entry of another version, or one that is
/// not whole, has no times.
std::string packedTimes(const std::vector<KeptTime>& times);
std::vector<KeptTime> unpackedTimes(std::string_view bytes);

/// The measured times in the place of a team. The times of one group, such as the tactics of one region on one kind of
/// machine, are one entry, which is asked for when the first of them is missing here, and once in the life of this
/// object. If requests that found nothing took half a second in total, nothing more is asked for. Thread-safe.
class SharedTimes final : public FartherTimes {
 public:
  /// Returns the key of the group of a time; empty if the time is not shared.
  using GroupOf = std::function<std::string(std::string_view key)>;
  SharedTimes(std::shared_ptr<KeptStore> place, GroupOf groupOf)
      : m_place(std::move(place)), m_groupOf(std::move(groupOf)) {}

  /// Returns the times in the group of this key, if it was not asked for before.
  std::vector<KeptTime> ask(std::string_view key) override;
  void note(const KeptTime& time) override;
  /// Writes the groups in which times were noted, together with the times that the place has.
  void write() override;
  std::string problem() const override { return m_place->problem(); }
  std::vector<DamagedEntry> takeDamaged() override { return m_place->takeDamaged(); }

 private:
  struct Group {
    bool isAsked = false, isChanged = false;
    std::map<std::string, KeptTime, std::less<>> times;
  };
  void ask(const std::string& key, Group& group);

  const std::shared_ptr<KeptStore> m_place;
  const GroupOf m_groupOf;
  std::mutex m_mutex;
  std::map<std::string, Group> m_groups;
  double m_msInVain = 0;  ///< of requests that found nothing
};

}  // namespace fusescope
