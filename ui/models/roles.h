#pragma once

#include <qnamespace.h>

namespace fusescope {

/// Additional roles of the window's item models.
enum ModelRole {
  kNameRole = Qt::UserRole + 1,  ///< QString: the name in the plan that the row is about, to which a click leads
  kSortRole,                     ///< the sort key, if it is not the text
  kBarRole,                      ///< double 0 … 1: drawn as a bar below the text
  kToneRole,                     ///< int Tone
  kNewRole,                      ///< bool: the last edit added it
  kTwinRole,  ///< QString: the most similar text, from which a shortened text must stay distinguishable
};

/// The meaning of a cell in addition to its text; views show it as a colour and a mark.
enum class Tone { Plain, Dim, Good, Warning, Bad };

}  // namespace fusescope
