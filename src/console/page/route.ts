// The view that the address names. The view's name is behind `#`, which browsers do not send, so that no server's log shows
// which submissions somebody looks at.

/** The filters of the list. All but `day` have the API's names. Empty filters are left out. */
const filterNames = ['day', 'status', 'verdict', 'language', 'tag', 'cursor'] as const
export type Filter = Readonly<Partial<Record<(typeof filterNames)[number], string>>>

/** The lists behind figures of the operators' overview. */
const behinds = ['running', 'webhooks', 'ended'] as const
export type Behind = (typeof behinds)[number]

export type Route =
  | { readonly view: 'playground' }
  | { readonly view: 'submissions'; readonly filter: Filter }
  | { readonly view: 'submission'; readonly id: string }
  | { readonly view: 'service'; readonly q?: string; readonly show?: Behind }
  | { readonly view: 'unknown' }

export type ServiceRoute = Extract<Route, { view: 'service' }>

/** Reads a view from `location.hash`. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2)
  if (path === '' || path === '/') return { view: 'playground' }
  const given = new URLSearchParams(search)
  if (path === '/service') {
    const q = given.get('q') ?? ''
    const show = behinds.find((one) => one === given.get('show'))
    return { view: 'service', ...(q !== '' && { q }), ...(show !== undefined && { show }) }
  }
  if (path === '/submissions') {
    return { view: 'submissions', filter: pickFilter((name) => given.get(name)) }
  }
  const id = /^\/submission\/([\w-]{1,64})$/.exec(path)?.[1]
  return id === undefined ? { view: 'unknown' } : { view: 'submission', id }
}

export function formatRoute(route: Route): string {
  switch (route.view) {
    case 'playground':
    case 'unknown':
      return '#/'
    case 'service': {
      const { view: _view, ...given } = route
      return addQuery('#/service', new URLSearchParams(given).toString())
    }
    case 'submission':
      return `#/submission/${route.id}`
    case 'submissions':
      return addQuery('#/submissions', formatFilter(route.filter))
  }
}

function addQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`
}

/** Formats filters as a query, always in the same order. */
export function formatFilter(filter: Filter): string {
  return new URLSearchParams(pickFilter((name) => filter[name])).toString()
}

function pickFilter(read: (name: keyof Filter) => string | null | undefined): Filter {
  const pairs = filterNames.flatMap((name) => {
    const value = read(name) ?? ''
    return value === '' ? [] : [[name, value]]
  })
  return Object.fromEntries(pairs) as Filter
}
