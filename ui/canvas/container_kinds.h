#pragma once

#include <QSet>
#include <QString>
#include <map>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "ui/canvas/canvas_metrics.h"

namespace fusescope {

struct CanvasItem;
struct CoverBody;
struct LevelParts;

/// The appearance of open containers of a kind.
struct ContainerLook {
  double header = metrics::kSegmentHeader;  ///< height
  bool oneLine = true;                      ///< title, detail and meta are in one line; otherwise there is a badge, and
                                            ///< the detail is below
  bool titleFromAfar = true;                ///< the title is shown even at a scale where boxes show only theirs
  bool dashedInFallback = true;             ///< the frame is dashed in fallback segments
  double tint = 0, frame = 0.25;            ///< the share of its colour in its background and its frame
};

/// The properties of one kind of containers. Scene, painter, keys and sessions use only these and know no kind by name.
/// Kinds are listed in container_kinds.inc.
struct ContainerKind {
  std::string_view name;       ///< "segment"
  std::string_view turnedKey;  ///< in sessions, the key for containers that are not in their initial state; empty: they
                               ///< always stay in it
  bool openAtFirst = true;
  bool knownByKey = false;       ///< selections identify it by its key, because names may be shared
  bool nests = false;            ///< a container may be inside another one of its kind, which comes before it
  bool opensForContent = false;  ///< it is opened when something in it is selected elsewhere
  bool calculates = false;       ///< it has a precision, and the colour of the colour mode; otherwise it has the colour
                                 ///< of its segment
  ContainerLook look{};
  /// `count` returns how many there are in a cover; `nodes` replaces the contents of its argument by the nodes of one
  /// of them. A container is drawn in the innermost container of an outer kind that contains all its nodes; one without
  /// nodes is not drawn.
  std::size_t (*count)(const LevelParts& level);
  void (*nodes)(const LevelParts& level, std::size_t part, std::vector<NodeId>& nodes);
  /// Makes the item: key, name, title and so on, and whether it can be opened. Size and place are set later.
  CanvasItem (*item)(const LevelParts& level, std::size_t part);
  /// Returns the cover that it shows in place of its node. Null: it shows its nodes.
  const CoverBody* (*body)(const LevelParts& level, std::size_t part) = nullptr;
};

/// Returns the kind of fused nodes.
const ContainerKind& fusedContainers();
/// Returns the kind of blocks, which are the parts of modules in a segment.
const ContainerKind& moduleContainers();

/// Returns all kinds, from the outermost to the innermost.
const std::vector<const ContainerKind*>& containerKinds();

/// The open containers of a cover, by handles and names, so that the state outlives the cover.
class OpenState {
 public:
  bool isOpen(const ContainerKind& kind, const QString& handle) const;
  void set(const ContainerKind& kind, const QString& handle, bool open);
  /// Returns the handles of containers of one kind that are not in the initial state of their kind.
  QSet<QString> turned(const ContainerKind& kind) const;
  void setTurned(const ContainerKind& kind, const QSet<QString>& handles);
  bool operator==(const OpenState& other) const = default;

 private:
  std::map<std::string_view, QSet<QString>> m_turned;  ///< by name of the kind; contains no empty sets
};

}  // namespace fusescope
