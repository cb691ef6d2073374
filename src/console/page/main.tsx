// Where the page begins.
import { render } from 'preact'
import { App } from './app.tsx'

render(<App />, document.querySelector('#root') ?? document.body)
